"""x * alpha + bias, the bias added to every row if it is given."""

from pytest_kernelbenchx import task


@task(
    inputs={"x": "f32[M, N]", "bias": "f32[N] | None"},
    output="f32[M, N]",
    axes={"M": (1, 3, 17), "N": (1, 5, 64, 300)},
    options={"alpha": (2.0, 1.0, -0.5)},
    layouts=("contiguous",),
    examples=[dict(M=2, N=5), dict(M=3, N=300, alpha=1.0), dict(M=3, N=300, bias=True)],
    sizes={"1k": dict(M=1024, N=1024), "4k": dict(M=4096, N=4096)},
)
def scaled(x, alpha=2.0, bias=None):
    return x * alpha if bias is None else x * alpha + bias
