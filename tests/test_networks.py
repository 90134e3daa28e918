"""The networks: against a textbook implementation, against each other, and against the action with W integrated out."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import chi2, norm
from torch.profiler import ProfilerActivity, profile

from copyhead import Setup
from copyhead.metric import MetricAction, random_metric
from copyhead.networks import CopyNetwork, Network, ReducedNetwork
from copyhead.projection import project
from copyhead.reduced import ReducedAction
from copyhead.task import features, sequences

SETUP = Setup(7, 3, sigma2=5.0, g_O=1.3, g_W=0.7)
TOKENS = sequences(7, 3, 30, seed=0)
ATTENTION = pytest.mark.parametrize("attention", ["linear", "softmax"])
PARAMETRIZATION = pytest.mark.parametrize("parametrization", ["W_G", "W_QW_K"])
EXACT = {"dtype": torch.float64}


def full(attention="softmax", d=13, parametrization="W_G", **options):
    d_k = 4 if parametrization == "W_QW_K" else None
    return CopyNetwork(SETUP, attention, d, parametrization=parametrization, d_k=d_k, **{**EXACT, **options})


def gradients(network, scalar):
    weights = {name: p for name, p in network.named_parameters() if p.requires_grad}
    return dict(zip(weights, torch.autograd.grad(scalar, list(weights.values())), strict=True))


def descend(network, method, steps, tokens=TOKENS):
    data = network.encode(tokens)
    for _ in range(steps):
        method.zero_grad()
        network.action(data).backward()
        method.step()


def within_chance(squares, count, variance, false_alarm=1e-7):
    """Whether a sum of squares of ``count`` independent Gaussians of this variance is within its two-sided quantiles."""
    low, high = chi2.ppf([false_alarm / 2, 1 - false_alarm / 2], count)
    return low < squares / variance < high


# --- the forward definition ----------------------------------------------------------------------------------------


def textbook(network, tokens):
    """Attention, outputs and action of a CopyNetwork in the usual way, from activations of shape (P, L, d)."""
    setup, d = network.setup, network.d_model
    token_vectors, position_vectors = network.E.T[: setup.V], network.E.T[setup.V :]
    tokens = torch.as_tensor(tokens)
    h = token_vectors[tokens] + position_vectors
    if network.parametrization == "W_G":
        scores = h @ network.W_G @ h.transpose(1, 2) / d
        decay = network.W_G.pow(2).sum() / (2 * setup.g_W)
    else:
        scores = (h @ network.W_Q.T) @ (h @ network.W_K.T).transpose(1, 2) / d
        variance = (setup.g_W / (network.chi * network.d_k)) ** 0.5
        decay = (network.W_Q.pow(2).sum() + network.W_K.pow(2).sum()) / (2 * variance * network.chi)
    G = scores / setup.L if network.attention_kind == "linear" else scores.exp() / scores.exp().sum(-1, keepdim=True)
    f = G @ h @ network.W_O.T
    Y = torch.nn.functional.one_hot(tokens.roll(1, 1), setup.V)
    action = (Y - f).pow(2).sum() / (2 * setup.sigma2) + decay + network.W_O.pow(2).sum() * d / (2 * setup.g_O)
    return G, f, action


@ATTENTION
@PARAMETRIZATION
@pytest.mark.parametrize("train_embeddings", [False, True], ids=["frozen", "trained"])
def test_the_textbook_network_has_the_same_outputs_and_gradients(attention, parametrization, train_embeddings):
    network = full(attention, parametrization=parametrization, train_embeddings=train_embeddings, chi=2.0, init="prior")
    G, f, action = textbook(network, TOKENS)
    assert torch.allclose(network.attention(TOKENS), G, rtol=0, atol=1e-12)
    assert torch.allclose(network(TOKENS), f, rtol=0, atol=1e-12)
    assert network.action(TOKENS).item() == pytest.approx(action.item(), rel=1e-13)
    ours, theirs = gradients(network, network.action(TOKENS)), gradients(network, action)
    assert set(ours) == {"W_O", *(parametrization == "W_G" and ["W_G"] or ["W_Q", "W_K"]), *(["E"] * train_embeddings)}
    for name, gradient in theirs.items():
        assert gradient.abs().max() > 1e-3
        assert torch.allclose(ours[name], gradient, rtol=0, atol=1e-11), name


@ATTENTION
@pytest.mark.parametrize("kind", ["full", "reduced", "metric"])
def test_outputs_follow_from_kernel_and_readout(attention, kind):
    metric = {"metric": random_metric(3, 7, 20, 0)} if kind == "metric" else {}
    network = (full(attention, init="prior") if kind == "full"
               else ReducedNetwork(SETUP, attention, init="prior", **metric, **EXACT))
    Phi, T, r = torch.as_tensor(features(TOKENS, 3)), network.kernel(), network.readout()
    U = Phi @ T @ Phi.transpose(1, 2)
    G = U / 7 if attention == "linear" else U.softmax(-1)
    assert torch.allclose(network(TOKENS), G @ Phi @ r.T, rtol=0, atol=1e-12)
    if metric:
        C = torch.as_tensor(metric["metric"])
        assert torch.allclose(torch.trace(T @ T.T), torch.trace(C @ network.M @ C @ network.M.T), rtol=1e-12)
        assert torch.allclose(r @ r.T, network.W @ C @ network.W.T, rtol=0, atol=1e-12)


@ATTENTION
def test_action_is_data_term_plus_prior_and_loss_is_per_token(attention):
    network = full(attention, init="prior")
    data, prior = network.data_term(TOKENS).item(), network.prior_term().item()
    assert network.action(TOKENS).item() == pytest.approx(data + prior, rel=1e-14)
    assert network.loss(TOKENS).item() == pytest.approx(2 * SETUP.sigma2 * data / TOKENS.size, rel=1e-14)
    with torch.no_grad():
        network.W_O.zero_()
    assert network.loss(TOKENS).item() == 1


@PARAMETRIZATION
def test_no_tensor_has_the_size_of_the_activations_and_only_the_gradient_that_of_the_weights(parametrization):
    d, P, tokens = 301, 100, sequences(7, 3, 100, seed=0)
    network = CopyNetwork(SETUP, "softmax", d, parametrization=parametrization, d_k=None if parametrization == "W_G" else d)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        network.action(tokens).backward()
    bytes_allocated = [event.self_cpu_memory_usage for event in profiler.events() if event.name != "[memory]"]
    assert max(bytes_allocated) == 4 * d * d < 4 * P * 7 * d
    assert sum(size >= 4 * d * d for size in bytes_allocated) == (1 if parametrization == "W_G" else 2)


# --- the prior and the start ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("chi", [1.0, 30.0])
@pytest.mark.parametrize("kind", ["reduced", "W_G", "W_QW_K"])
def test_prior_init_has_the_variances_of_the_prior(kind, chi):
    """False alarm: 1e-7 for each of the weights."""
    if kind == "reduced":
        network, variances = ReducedNetwork(Setup(60, 8, g_O=1.3, g_W=0.7), "linear", chi, init="prior"), {}
        variances = {"M": 0.7 / chi, "W": 1.3 / chi}
    else:
        network = full(d=200, parametrization=kind, chi=chi, init="prior", dtype=torch.float32)
        attention = {"W_G": 0.7 / chi} if kind == "W_G" else dict.fromkeys(("W_Q", "W_K"), (0.7 / (chi * 4)) ** 0.5)
        variances = {"W_O": 1.3 / 200 / chi, **attention}
    for name, variance in variances.items():
        weights = getattr(network, name)
        assert within_chance(weights.double().pow(2).sum().item(), weights.numel(), variance), name


@pytest.mark.parametrize("kind", ["reduced", "W_G", "W_QW_K"])
def test_prior_term_is_minus_the_log_prior_over_chi(kind):
    chi = 30.0

    def network(seed):
        if kind == "reduced":
            return ReducedNetwork(SETUP, "linear", chi, init="prior", seed=seed, **EXACT), {"M": 0.7 / chi, "W": 1.3 / chi}
        attention = {"W_G": 0.7 / chi} if kind == "W_G" else dict.fromkeys(("W_Q", "W_K"), (0.7 / (chi * 4)) ** 0.5)
        return full(parametrization=kind, chi=chi, init="prior", seed=seed), {"W_O": 1.3 / (13 * chi), **attention}

    def values(seed):
        made, variances = network(seed)
        log_prior = sum(norm.logpdf(getattr(made, name).detach().numpy(), scale=variance**0.5).sum()
                        for name, variance in variances.items())
        return made.prior_term().item(), log_prior

    (prior_0, log_0), (prior_1, log_1) = values(0), values(1)
    assert abs(prior_0 - prior_1) > 1e-3
    assert prior_0 - prior_1 == pytest.approx(-(log_0 - log_1) / chi, rel=1e-10)


def test_product_of_query_and_key_has_the_variance_of_the_single_matrix_and_low_rank():
    """The mean square of the entries is that of |q|^2 |k|^2 over d_k pairs: relative variance 4 / (d d_k), d = 200, d_k = 4.

    The average over 40 networks scatters by 1.1 %; six of these are allowed, a false alarm below 1e-8.
    """
    made = [full("linear", 200, "W_QW_K", chi=30.0, init="prior", seed=seed) for seed in range(40)]
    squares = [(network.W_Q.T @ network.W_K).pow(2).mean().item() for network in made]
    assert np.mean(squares) == pytest.approx(0.7 / 30, rel=6 * (4 / (200 * 4 * 40)) ** 0.5)
    assert int(torch.linalg.matrix_rank(made[0].kernel(), tol=1e-10)) == 4
    assert all(int(torch.linalg.matrix_rank(G, tol=1e-10)) <= 4 for G in made[0].attention(TOKENS))


@pytest.mark.parametrize("kind", ["reduced", "W_G", "W_QW_K"])
def test_small_init_is_a_hundredth_of_the_prior_width_at_any_chi(kind):
    """False alarm: 1e-7 for each of the weights."""
    made = {chi: ReducedNetwork(SETUP, "linear", chi) if kind == "reduced"
            else full(d=100, parametrization=kind, chi=chi, dtype=torch.float32) for chi in (1.0, 30.0)}
    for name, weights in made[1.0].named_parameters():
        if name != "E":
            assert torch.equal(weights, dict(made[30.0].named_parameters())[name])
    if kind == "W_QW_K":
        width = 0.1 * (0.7 / 4) ** 0.25
        sizes = {"W_Q": width, "W_K": width, "W_O": 0.01 * (1.3 / 100) ** 0.5}
    else:
        sizes = {"M": 0.01 * 0.7**0.5, "W": 0.01 * 1.3**0.5} if kind == "reduced" else {
            "W_G": 0.01 * 0.7**0.5, "W_O": 0.01 * (1.3 / 100) ** 0.5}
    for name, width in sizes.items():
        weights = getattr(made[1.0], name)
        assert within_chance(weights.double().pow(2).sum().item(), weights.numel(), width**2), name


def test_seed_fixes_the_weights_in_both_precisions_and_the_embedding_is_that_of_the_metric():
    double, single, other = full(seed=5), full(seed=5, dtype=torch.float32), full(seed=6)
    for name, weights in double.named_parameters():
        assert torch.allclose(weights.float(), dict(single.named_parameters())[name], rtol=1e-6, atol=0)
        assert not torch.equal(weights, dict(other.named_parameters())[name])
    assert np.allclose(double.metric(), random_metric(3, 7, 13, 5), rtol=0, atol=1e-13)


# --- full and reduced network --------------------------------------------------------------------------------------


@ATTENTION
@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("d", [6, 40])                    # d = 6 < V + L: the metric is singular
def test_gradient_descent_of_the_full_network_is_that_of_the_reduced_one(attention, momentum, d):
    network = full(attention, d, chi=4.0, init="prior")             # the start is not in the span of the embeddings
    small = network.reduced()
    rate, readout_rate = 0.02, 0.02 / d
    assert torch.allclose(network.kernel(), small.kernel(), rtol=0, atol=1e-12)
    before = network.kernel().detach().clone()
    descend(network, torch.optim.SGD([{"params": [network.W_G], "lr": rate}, {"params": [network.W_O], "lr": readout_rate}],
                                     momentum=momentum), 200)
    descend(small, torch.optim.SGD([{"params": [small.M], "lr": rate}, {"params": [small.W], "lr": d * readout_rate}],
                                   momentum=momentum), 200)
    assert (network.kernel() - before).abs().max() > 0.1
    assert torch.allclose(network.kernel(), small.kernel(), rtol=0, atol=1e-8)
    assert torch.allclose(network.readout(), small.readout(), rtol=0, atol=1e-8)


@ATTENTION
def test_adam_is_not_equivalent(attention):
    network = full(attention, 40)
    small = network.reduced()
    descend(network, torch.optim.Adam([network.W_G, network.W_O], lr=1e-3), 100)
    descend(small, torch.optim.Adam([small.M, small.W], lr=1e-3), 100)
    assert (network.kernel() - small.kernel()).abs().max() > 0.1


@ATTENTION
def test_langevin_of_the_full_network_is_that_of_the_reduced_one_with_the_projected_noise(attention):
    d, rate, temperature = 30, 0.01, 0.02
    network = full(attention, d, init="prior", chi=4.0)
    small, Q = network.reduced(), network._orthonormal_rows()
    assert torch.allclose(Q @ Q.T, torch.eye(10, **EXACT), rtol=0, atol=1e-12)      # white noise stays white
    generator = torch.Generator().manual_seed(1)
    for _ in range(50):
        noise_G, noise_O = (torch.randn(*shape, generator=generator, **EXACT) for shape in ((d, d), (3, d)))
        step = gradients(network, network.action(TOKENS))
        step_small = gradients(small, small.action(TOKENS))
        with torch.no_grad():
            network.W_G += -rate * step["W_G"] + (2 * rate * temperature) ** 0.5 * noise_G
            network.W_O += -rate / d * step["W_O"] + (2 * rate / d * temperature) ** 0.5 * noise_O
            small.M += -rate * step_small["M"] + (2 * rate * temperature) ** 0.5 * Q @ noise_G @ Q.T
            small.W += -rate * step_small["W"] + (2 * rate * temperature) ** 0.5 * noise_O @ Q.T
    assert torch.allclose(network.kernel(), small.kernel(), rtol=0, atol=1e-10)
    assert torch.allclose(network.readout(), small.readout(), rtol=0, atol=1e-10)


def test_projected_weights_are_independent_with_the_variances_of_the_reduced_prior():
    """Sample covariance of all V + L = 4 pairs of entries of M and of W over 1000 networks; false alarm below 1e-5."""
    setup, draws = Setup(2, 2, g_O=1.3, g_W=0.7), 1000
    made = [CopyNetwork(setup, "linear", 9, init="prior", seed=seed, **EXACT).reduced() for seed in range(draws)]
    entries = np.array([np.concatenate([n.M.detach().numpy().ravel() / 0.7**0.5, n.W.detach().numpy().ravel() / 1.3**0.5])
                        for n in made])
    covariance = entries.T @ entries / draws
    # 300 distinct entries, each with sd 1 / sqrt(draws) (sqrt(2 / draws) on the diagonal): six of them.
    bound = 6 * np.sqrt((1 + np.eye(len(covariance))) / draws)
    assert np.all(np.abs(covariance - np.eye(len(covariance))) < bound)


@ATTENTION
def test_most_probable_network_is_the_most_probable_reduced_one(attention):
    network = full(attention, 25, seed=1)
    small = network.reduced()
    C = network.metric()
    integrated = MetricAction(SETUP, attention, TOKENS, C)

    def search(made):
        names = [name for name, p in made.named_parameters() if p.requires_grad]
        shapes = [getattr(made, name).shape for name in names]

        def objective(x):
            parts = torch.as_tensor(x).split([shape.numel() for shape in shapes])
            with torch.no_grad():
                for name, part, shape in zip(names, parts, shapes, strict=True):
                    getattr(made, name).copy_(part.reshape(shape))
            action = made.action(TOKENS)
            slopes = gradients(made, action)
            return action.item(), np.concatenate([slopes[name].numpy().ravel() for name in names])

        start = np.concatenate([getattr(made, name).detach().numpy().ravel() for name in names])
        result = minimize(objective, start, jac=True, method="L-BFGS-B",
                          options=dict(gtol=1e-9, ftol=0, maxiter=20000, maxfun=20000))
        objective(result.x)
        return result.fun

    action, action_small = search(network), search(small)
    assert action == pytest.approx(action_small, rel=1e-10)
    assert network.loss(TOKENS).item() < 0.9                                        # something was learned
    # Signs of linear attention: T -> -T with r -> -r is a symmetry.
    sign = torch.sign((network.kernel() * small.kernel()).sum()) if attention == "linear" else 1
    assert torch.allclose(network.kernel(), sign * small.kernel(), rtol=0, atol=1e-5)
    M = small.M.detach().numpy()
    value, gradient = integrated.value_and_gradient(M)
    assert value == pytest.approx(action, rel=1e-10) and np.abs(gradient).max() < 1e-5
    assert np.abs(integrated.readout(M).T - small.readout().detach().numpy()).max() < 1e-5


@ATTENTION
def test_reduced_network_at_the_best_readout_is_the_action_with_the_readout_integrated_out(attention):
    network = ReducedNetwork(SETUP, attention, init="prior", seed=2, **EXACT)
    action = ReducedAction(SETUP, attention, TOKENS)
    M = network.M.detach().numpy()
    with torch.no_grad():
        network.W.copy_(torch.as_tensor(action.readout(M).T))
    slopes = gradients(network, network.action(TOKENS))
    value, gradient = action.value_and_gradient(M)
    assert network.action(TOKENS).item() == pytest.approx(value, rel=1e-13)
    assert network.loss(TOKENS).item() == pytest.approx(action.loss(M), rel=1e-12)
    assert np.allclose(slopes["M"].numpy(), gradient, rtol=0, atol=1e-12)
    assert slopes["W"].abs().max() < 1e-12
    assert np.allclose(network.attention(TOKENS).detach().numpy(), action.attention(M), rtol=0, atol=1e-14)


@pytest.mark.parametrize("d", [6, 40])
def test_lift_and_reduced_are_inverse_and_the_lift_costs_the_least(d):
    network = full(d=d, init="prior")
    small = network.reduced()
    T, r, prior = (x.detach().clone() for x in network._weights())
    network.lift(small.M.detach(), small.W.detach())
    assert torch.allclose(network.kernel(), T, rtol=0, atol=1e-12)
    assert torch.allclose(network.readout(), r, rtol=0, atol=1e-12)
    lifted = network.prior_term().item()
    assert lifted == pytest.approx(network.reduced().prior_term().item(), rel=1e-12)
    assert lifted < 0.5 * prior.item() if d == 40 else lifted == pytest.approx(prior.item(), rel=1e-12)
    again = network.reduced()
    assert torch.allclose(again.M, small.M, rtol=0, atol=1e-12) and torch.allclose(again.W, small.W, rtol=0, atol=1e-12)


# --- precision and devices -----------------------------------------------------------------------------------------


@ATTENTION
@PARAMETRIZATION
def test_single_precision_agrees_with_double(attention, parametrization):
    made = [full(attention, 60, parametrization, init="prior", dtype=dtype) for dtype in (torch.float32, torch.float64)]
    values = [network.action(TOKENS) for network in made]
    assert values[0].dtype == torch.float32 and values[1].dtype == torch.float64
    assert values[0].item() == pytest.approx(values[1].item(), rel=2e-6)
    slopes = [gradients(network, value) for network, value in zip(made, values, strict=True)]
    for name, slope in slopes[1].items():
        assert (slopes[0][name] - slope).abs().max() < 2e-5 * slope.abs().max(), name


def test_prior_of_many_weights_is_summed_accurately_in_single_precision():
    W = torch.randn(2000, 2000, generator=torch.Generator().manual_seed(0))
    E = torch.randn(2000, 2, generator=torch.Generator().manual_seed(1))
    assert float(project(W, E, 2.0)[1]) == pytest.approx(float(W.double().pow(2).sum()), rel=3e-7)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@ATTENTION
@PARAMETRIZATION
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["single", "double"])
def test_cuda_agrees_with_the_cpu(attention, parametrization, dtype):
    options = dict(parametrization=parametrization, init="prior", dtype=dtype, train_embeddings=True)
    made = [full(attention, 300, device=device, **options) for device in ("cpu", "cuda")]
    values = [network.action(TOKENS) for network in made]
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    assert values[1].is_cuda and values[1].item() == pytest.approx(values[0].item(), rel=tolerance)
    slopes = [gradients(network, value) for network, value in zip(made, values, strict=True)]
    for name, slope in slopes[0].items():
        assert (slopes[1][name].cpu() - slope).abs().max() < 20 * tolerance * slope.abs().max(), name
    assert (made[1].reduced().kernel() - made[0].reduced().kernel()).abs().max() < 1e-6


# --- being a module, and bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["reduced", "full"])
def test_state_and_conversion(kind):
    def make(seed):
        metric = random_metric(3, 7, 20, 0)
        return (ReducedNetwork(SETUP, "softmax", metric=metric, init="prior", seed=seed, **EXACT) if kind == "reduced"
                else full(init="prior", seed=seed))

    network, other = make(0), make(1)
    assert isinstance(network, Network)
    other.load_state_dict(network.state_dict())
    assert torch.equal(other(TOKENS), network(TOKENS))
    single = other.to(torch.float32)
    assert single(TOKENS).dtype == torch.float32
    assert torch.allclose(single(TOKENS).double(), network(TOKENS), atol=1e-4)


def test_tokens_may_be_arrays_tensors_or_encoded():
    network = full()
    data = network.encode(TOKENS)
    assert torch.equal(data.X.argmax(-1), torch.as_tensor(TOKENS)) and data.X.dtype == torch.float64
    assert np.array_equal(data.Y.argmax(-1).numpy(), np.roll(TOKENS, 1, axis=1))
    for tokens in (data, torch.as_tensor(TOKENS), TOKENS.astype(np.uint8), TOKENS.tolist()):
        assert torch.equal(network(tokens), network(TOKENS))


BAD_TOKENS = {"one dimension": TOKENS[0], "wrong length": TOKENS[:, :-1], "none": TOKENS[:0], "too large": TOKENS + 1,
              "negative": TOKENS - 1, "not integer": TOKENS * 1.0, "boolean": TOKENS > 0}


@pytest.mark.parametrize("tokens", list(BAD_TOKENS.values()), ids=list(BAD_TOKENS))
@pytest.mark.parametrize("method", ["__call__", "attention", "action", "loss", "data_term"])
def test_bad_tokens(method, tokens):
    with pytest.raises(ValueError, match="tokens must"):
        getattr(full(), method)(tokens)


BAD_ARGUMENTS = {
    "attention": dict(attention="cosine"), "chi": dict(chi=0.0), "init": dict(init="zero"), "seed": dict(seed=-1),
    "dtype": dict(dtype=torch.float16), "device": dict(device="abacus"), "setup": dict(setup=(7, 3))}
ONLY_FULL = {
    "d_model": dict(d_model=0), "parametrization": dict(parametrization="W_V"), "d_k": dict(parametrization="W_QW_K"),
    "d_k without": dict(d_k=3), "train_embeddings": dict(train_embeddings=1)}
ONLY_REDUCED = {"metric": dict(metric=np.eye(9)), "metric negative": dict(metric=-np.eye(10))}


@pytest.mark.parametrize("name", [*BAD_ARGUMENTS, *ONLY_FULL])
def test_bad_arguments_of_the_full_network(name):
    arguments = {"setup": SETUP, "attention": "linear", "d_model": 8, **{**BAD_ARGUMENTS, **ONLY_FULL}[name]}
    with pytest.raises(ValueError, match=rf"^{name.split()[0]} must"):
        CopyNetwork(**arguments)


@pytest.mark.parametrize("name", [*BAD_ARGUMENTS, *ONLY_REDUCED])
def test_bad_arguments_of_the_reduced_network(name):
    arguments = {"setup": SETUP, "attention": "linear", **{**BAD_ARGUMENTS, **ONLY_REDUCED}[name]}
    with pytest.raises(ValueError, match=r"^C must" if "metric" in name else rf"^{name} must"):
        ReducedNetwork(**arguments)


def test_lift_and_reduced_need_one_attention_matrix_of_the_right_shape():
    with pytest.raises(ValueError, match="parametrization must be 'W_G'"):
        full(parametrization="W_QW_K").reduced()
    with pytest.raises(ValueError, match="M and W must have shapes"):
        full().lift(np.zeros((9, 9)), np.zeros((3, 10)))
