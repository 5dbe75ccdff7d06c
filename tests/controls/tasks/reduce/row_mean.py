"""The mean of every row."""

from pytest_kernelbenchx import task


@task(
    inputs={"x": "f32[M, N]"},
    output="f32[M]",
    axes={"M": (1, 3, 17), "N": (1, 5, 64, 300)},
    layouts=("contiguous",),
    examples=[dict(M=2, N=5), dict(M=3, N=300)],
    sizes={"1k": dict(M=1024, N=1024), "4k": dict(M=4096, N=4096)},
)
def row_mean(x):
    return x.mean(1)
