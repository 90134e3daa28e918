// After a slider was moved with the mouse or a finger, the keys turn slides again.
document.addEventListener("pointerup", (event) => {
  if (event.target instanceof HTMLInputElement) event.target.blur();
});
