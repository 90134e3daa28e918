"""The tool that prints the benchmark table collects rows and does not hide a failure."""

import benchmark as table

PASSING = '''
def test_one():
    print("\\n| work | 1 s | 0.5 s |")
    print("something else | with bars")
'''
FAILING = '''
def test_two():
    print("\\n| slow | 1 s | 3 s |")
    assert 3 <= 1
'''


def test_rows_are_collected_and_a_missed_target_fails(tmp_path, capsys):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a_benchmark.py").write_text(PASSING)
    (tmp_path / "tests/test_other.py").write_text(FAILING)                # not a benchmark
    assert table.measured(root=tmp_path) == (["| work | 1 s | 0.5 s |"], 0)
    (tmp_path / "tests/test_b_benchmark.py").write_text(FAILING)
    assert table.measured(root=tmp_path) == (["| work | 1 s | 0.5 s |", "| slow | 1 s | 3 s |"], 1)
    assert "assert 3 <= 1" in capsys.readouterr().err
    assert table.measured(["-k", "one"], tmp_path) == (["| work | 1 s | 0.5 s |"], 0)


def test_estimates_are_marked_as_such():
    assert all("estimated" in row for row in table.estimated())
