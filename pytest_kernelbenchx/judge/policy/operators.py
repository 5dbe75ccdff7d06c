"""PyTorch's operators that would do a task: those that some tasks forbid, and those that are work wherever they are.

A dotted path counts however it is used, a method of a tensor only where it is called. What is outside the groups moves,
makes or views tensors.
"""

import re

PRODUCTS = (
    "matmul mm bmm addmm addbmm baddbmm einsum tensordot mv addmv inner dot vdot vecdot chain_matmul multi_dot "
    "bilinear linear addr smm sspaddmm hspmm spmm kron"
)
CONVOLUTIONS = (
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution conv_tbc cudnn_convolution "
    "_convolution mkldnn_convolution convolution_overrideable"
)
ATTENTION = (
    "scaled_dot_product_attention multi_head_attention_forward _scaled_dot_product_attention_math flex_attention "
    "_scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention _native_multi_head_attention "
    "_scaled_dot_product_cudnn_attention _flash_attention_forward"
)
NORMS = "layer_norm native_layer_norm rms_norm group_norm instance_norm batch_norm native_batch_norm normalize"
QUANTIZERS = (
    "quantize_per_tensor quantize_per_channel quantize_per_tensor_dynamic fake_quantize_per_tensor_affine "
    "fake_quantize_per_channel_affine dequantize int_repr _int_mm _scaled_mm _scaled_grouped_mm scaled_mm "
    "scaled_grouped_mm _weight_int4pack_mm _weight_int8pack_mm _convert_weight_to_int4pack _dyn_quant_matmul_4bit "
    "_choose_qparams_per_tensor choose_qparams_optimized fused_moving_avg_obs_fake_quant _cslt_sparse_mm "
    "fbgemm_linear_int8_weight fbgemm_pack_gemm_matrix_fp16 quantized_lstm_cell _mixed_dtypes_linear"
)
LAYERS = {
    "matmul": "Linear LazyLinear Bilinear RNN LSTM GRU",
    "conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv2d",
    "attention": "MultiheadAttention Transformer TransformerEncoderLayer TransformerDecoderLayer",
    "norm": "LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm2d",
}
GROUPS = {
    "quantize": frozenset(QUANTIZERS.split()),
    "matmul": frozenset(PRODUCTS.split()),
    "conv": frozenset(CONVOLUTIONS.split()),
    "attention": frozenset(ATTENTION.split()),
    "norm": frozenset(NORMS.split()),
}
QUANTIZED = re.compile(r"torch\.(ao|quantization|nn\.(quantized|qat|intrinsic)|backends\.quantized|ops\.quantized)\b")
GROUP_REASONS = {
    "quantize": "PyTorch's quantization operators would do the task",
    "matmul": "PyTorch's full-precision products would do the task",
    "conv": "PyTorch's convolutions would do the task",
    "attention": "PyTorch's attention would do the task",
    "norm": "PyTorch's normalizations would do the task",
}
ROOTS = ("torch", "numpy", "operator", "scipy")

REST = """
    softmax log_softmax logsumexp softmin relu gelu silu elu selu celu leaky_relu prelu hardtanh hardswish
    hardsigmoid hardshrink softshrink mish sigmoid tanh exp exp2 expm1 log log2 log10 log1p sqrt rsqrt erf erfc
    erfinv sin cos tan asin acos atan sinh cosh digamma lgamma polygamma norm vector_norm matrix_norm cdist
    pairwise_distance cosine_similarity cosine_embedding_loss cross_entropy nll_loss mse_loss kl_div
    binary_cross_entropy smooth_l1_loss max_pool1d max_pool2d avg_pool1d avg_pool2d adaptive_avg_pool2d
    fractional_max_pool2d interpolate grid_sample affine_grid embedding dropout cumsum cumprod argmax argmin argsort
    sort topk svd qr eig eigh inv solve cholesky lu lu_factor lstsq det fft ifft fftn rfft istft stft bincount histc
    bernoulli logspace softplus glu threshold
"""
COMPUTE = frozenset(REST.split()).union(*GROUPS.values())
ALSO = "sum mean std var min max amin amax prod add sub mul div pow abs where clamp round floor"
FUNCTIONS = frozenset(ALSO.split())
"""Names that are work as functions of torch; as methods they may be anybody's."""


def is_operator(path: str) -> bool:
    """Whether a dotted path is an operator that computes."""
    root, _, rest = path.partition(".")
    last = rest.rpartition(".")[2].removesuffix("_")
    known = last in COMPUTE or (root == "torch" and last in FUNCTIONS)
    return root in ROOTS and bool(rest) and known and not path.startswith("torch.Tensor.__")


def forbidden_group(path: str, forbid: tuple[str, ...]) -> str | None:
    """The group of those that a task forbids to which a dotted path belongs."""
    root, _, rest = path.partition(".")
    last = rest.rpartition(".")[2].removesuffix("_")
    if root not in ROOTS:
        return None
    if "quantize" in forbid and QUANTIZED.match(path):
        return "quantize"
    if path == "operator.matmul" or last == "__matmul__":
        last = "matmul"
    found = [group for group in forbid if last in GROUPS[group] or last in LAYERS.get(group, "").split()]
    return found[0] if found else None
