"""Adam: a step is a single pass over parameter, gradient and averages, one launch for each tensor.

Powers of the betas are taken in double, on the host. The first step does not read the averages, which are 0.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def adam_kernel(
    param_ptr, grad_ptr, average_ptr, square_ptr, n,
    decay, beta1, rest1, beta2, rest2, rate, correction, eps, FIRST: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    param = tl.load(param_ptr + i, mask=inside)
    grad = tl.load(grad_ptr + i, mask=inside) + decay * param
    average = rest1 * grad
    square = rest2 * grad * grad
    if not FIRST:
        average += beta1 * tl.load(average_ptr + i, mask=inside)
        square += beta2 * tl.load(square_ptr + i, mask=inside)
    step = rate * average / (tl.sqrt(square * correction) + eps)
    tl.store(param_ptr + i, param - step, mask=inside)
    tl.store(average_ptr + i, average, mask=inside)
    tl.store(square_ptr + i, square, mask=inside)


class Adam:
    """Optimizer over a list of tensors; `step()` reads their `.grad`."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.averages = [self.like(param) for param in self.params]
        self.squares = [self.like(param) for param in self.params]
        self.steps = [0] * len(self.params)

    @staticmethod
    def like(param):
        return torch.empty_like(param, memory_format=torch.contiguous_format, requires_grad=False)

    @torch.no_grad()
    def step(self):
        beta1, beta2 = self.betas
        for number, param in enumerate(self.params):
            if param.grad is None:
                continue
            self.steps[number] += 1
            t, n = self.steps[number], param.numel()
            if not n:
                continue
            flat = param.contiguous()
            block, warps = (1024, 4) if n <= 1 << 18 else (2048, 8)
            adam_kernel[(triton.cdiv(n, block),)](
                flat, param.grad.contiguous(), self.averages[number], self.squares[number], n,
                float(self.weight_decay), float(beta1), 1.0 - beta1, float(beta2), 1.0 - beta2,
                self.lr / (1.0 - beta1**t), 1.0 / (1.0 - beta2**t), float(self.eps),
                FIRST=t == 1, BLOCK=block, num_warps=warps,
            )  # fmt: skip
            if flat is not param:
                param.copy_(flat)
