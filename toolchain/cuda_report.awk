# SPDX-License-Identifier: Apache-2.0
# Reads what ptxas says of each kernel (-v, through c++filt), fails on what spills or does not fit, and prints for the kernels
# of stage sgm how many of their warps a multiprocessor holds. Called by toolchain/check_cuda.sh with WANTED: architectures.

BEGIN {
    # Limits of a multiprocessor, from the CUDA programming guide, "Technical Specifications per Compute Capability":
    # warps, blocks, shared memory in KiB of all blocks and of one, and what the system takes of it for each block
    limit("sm_72", 64, 32, 96, 96, 0)
    limit("sm_87", 48, 16, 164, 163, 1)
    limit("sm_90", 64, 32, 228, 227, 1)
    limit("sm_110", 48, 24, 228, 227, 1)
    registers_all = 65536
    format = "%-58s %-7s %9s %10s %7s %6s\n"
    printf format, "kernel of stage sgm", "GPU", "registers", "shared, B", "blocks", "warps"
}

function limit(gpu, warps, blocks, shared, shared_block, reserved)
{
    max_warps[gpu] = warps
    max_blocks[gpu] = blocks
    max_shared[gpu] = shared * 1024
    max_shared_block[gpu] = shared_block * 1024
    reserve[gpu] = reserved * 1024
}

function fail(why)
{
    print "check: " kernel " for " gpu ": " why > "/dev/stderr"
    failed = 1
}

function least(a, b) { return a < b ? a : b }

# Bytes that four warps of a sweep have: struct band_memory of gpu/sgm/sweep.cuh.
function sweep_bytes(d,    rows, bytes)
{
    rows = 512 / d
    bytes = 3 * ((d == 256 ? 8 : 12) + rows - 1) * d # ring, and what goes from row to row
    bytes += (4 + 4 + 3) * 512 # costs, sums and messages of each thread
    bytes += rows * ((d + 20) * 4 + 3 * 8 * 4) # features and penalties
    bytes += 4 * rows * (d / 64 * 36 + d / 32) * 4 # keys, candidates
    return 4 * int((bytes + 15) / 16) * 16 + 32 # progress
}

# Warps of a block of KERNEL, and what its launch adds to SHARED; 0 if it is no kernel of stage sgm.
function launch(    number, warps)
{
    split(kernel, number, /[^0-9]+/) # number[1] is empty: a name comes first
    if (kernel ~ /^prefetch_lines_kernel/) {
        shared += 16 * (1024 + (kernel ~ /true/ ? 128 : 0)) # prefetched pixels: costs and sums, and P2
        return 1
    }
    if (kernel ~ /^register_lines_kernel/)
        return 1
    if (kernel ~ /^winner_kernel/) {
        shared += 128 * (number[2] / 2 + number[2] / 16 + 1) * 4 # a segment's keys, and the least of each chunk
        return 8
    }
    if (kernel ~ /^sweeps_kernel/) {
        shared += sweep_bytes(number[2])
        return 5
    }
    if (kernel ~ /^cost_kernel/)
        return 4
    return kernel ~ /^penalty_kernel/ ? 8 : 0
}

function judge(    warps, blocks)
{
    kernels++
    warps = launch()
    if (warps == 0)
        return
    if (!(gpu in max_warps)) {
        fail("no limits are known here; add them to toolchain/cuda_report.awk")
        return
    }
    blocks = least(max_blocks[gpu], int(max_warps[gpu] / warps))
    blocks = least(blocks, int(registers_all / (int((registers + 7) / 8) * 8 * 32 * warps)))
    if (shared + reserve[gpu] > 0)
        blocks = least(blocks, int(max_shared[gpu] / (shared + reserve[gpu])))
    if (blocks < 1 || shared > max_shared_block[gpu])
        fail("a block does not fit: " registers " registers, " shared " bytes of shared memory")
    printf format, kernel, gpu, registers, shared, blocks, blocks * warps
    if (kernel ~ /^(prefetch_lines|register_lines|sweeps)_kernel/)
        aggregation[gpu]++
}

/Compiling entry function/ {
    gpu = $NF
    gsub(/'/, "", gpu)
    kernel = $0
    sub(/.*entry function '/, "", kernel)
    sub(/' for .*/, "", kernel)
    sub(/^void /, "", kernel)
    sub(/\([^()]*\)$/, "", kernel)
}

/bytes spill stores/ && kernel {
    for (i = 2; i <= NF; i++)
        if ($i ~ /^spill/ && $(i - 2) > 0)
            spilled = 1
    if (spilled)
        fail("registers spill: " $0)
    spilled = 0
}

/ Used [0-9]+ registers/ && kernel {
    shared = 0
    for (i = 2; i <= NF; i++) {
        if ($i ~ /^registers/)
            registers = $(i - 1)
        if ($i ~ /^smem/)
            shared = $(i - 2)
    }
    judge()
    kernel = ""
}

END {
    count = split(wanted, gpus, " ")
    for (i = 1; i <= count; i++)
        if (!aggregation[gpus[i]]) {
            print "check: the compiler reported no kernel of the aggregation for " gpus[i] > "/dev/stderr"
            failed = 1
        }
    print kernels " kernels"
    exit failed
}
