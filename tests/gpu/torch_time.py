# SPDX-License-Identifier: Apache-2.0
"""torch_time.py: what tests/gpu/nvidia.sh runs of PyTorch and Triton, one line each: NAME MICROSECONDS.

The medians of many calls by events, behind a check of what they made.
"""
import statistics

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    mask = at < count
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def median_us(call, warm_up=200, calls=600):
    # All are queued before the first is waited for: what stands between two events is the kernel's time,
    # and not how long this process takes to start one.
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(warm_up + calls)]
    for start, stop in events:
        start.record()
        call()
        stop.record()
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(stop) * 1000 for start, stop in events[warm_up:])


def main():
    count = 64 << 20
    x, y = torch.rand(count, device="cuda"), torch.rand(count, device="cuda")
    out = torch.empty_like(x)

    def add():
        add_kernel[(triton.cdiv(count, 1024),)](x, y, out, count, block=1024)

    add()
    torch.testing.assert_close(out, x + y)
    print(f"triton {median_us(add):.3f}", flush=True)

    a, b = (torch.rand(4096, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    torch.testing.assert_close((a @ b)[:64].float(), a[:64].float() @ b.float(), rtol=2e-2, atol=2e-1)
    print(f"pytorch {median_us(lambda: torch.matmul(a, b)):.3f}", flush=True)


main()
