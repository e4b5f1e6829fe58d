#!/usr/bin/env python3
"""Time pet-kokkos (its CPU wheel from PyPI, or a program for a GPU) on the energy and forces of one structure.

    rival_pet_kokkos.py --size xs --structure water192.xyz
    OPENBLAS_CORETYPE=SkylakeX rival_pet_kokkos.py --size xs --structure water192.xyz
    rival_pet_kokkos.py --size s32 --structure water17280.xyz --program ./pet-bench --products tf32

Needs numpy, and pet-kokkos or the program. The model is written to a temporary folder in pet-kokkos' own format (a JSON description and
a safetensors file) with random weights: the time of an evaluation does not depend on them. With `--list kept` (the
default) pet-kokkos keeps its neighbour list from call to call, with its own skin, so that building it is not timed;
with `--list rebuilt` every call builds it. The wheel brings OpenBLAS, which chooses its kernels by the processor unless
the environment variable OPENBLAS_CORETYPE names others; neither choice is always the faster one, so time both.

`--program` names a build for GPUs of pet-kokkos' library with a loop of its own around it, `PROGRAM MODEL STRUCTURE --warm N --repeat N
--seconds S`, which prints lines `TIME TAG step median X ms best Y ms ...`, without the list, and `MEM TAG ... pool X GiB ...`.
`--products tf32` then rounds the operands of its products and of its attention to TF32, `native` keeps them in float32.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import tempfile

import numpy as np

import rival_common


def linear(outputs, inputs):
    """Shapes of the two tensors of a linear layer."""
    return {"weight": (outputs, inputs), "bias": (outputs,)}


def prefixed(prefix, shapes):
    return {f"{prefix}.{name}": shape for name, shape in shapes.items()}


def attention_layer_shapes(size):
    """Tensors of one transformer layer, in which the edges and the wider centre each have a feed-forward part."""
    modules = {
        "attention.input_linear": linear(3 * size.d_pet, size.d_pet),
        "attention.output_linear": linear(size.d_pet, size.d_pet),
        "norm_attention": {"weight": (size.d_pet,)},
        "norm_mlp": {"weight": (size.d_pet,)},
        "mlp.w_in": linear(2 * size.d_feedforward, size.d_pet),
        "mlp.w_out": linear(size.d_pet, size.d_feedforward),
        "center_contraction": linear(size.d_pet, size.d_node),
        "center_expansion": linear(size.d_node, size.d_pet),
        "norm_center_features": {"weight": (size.d_node,)},
        "center_mlp.w_in": linear(4 * size.d_node, size.d_node),
        "center_mlp.w_out": linear(size.d_node, 2 * size.d_node),
    }
    return {f"{module}.{name}": shape for module, part in modules.items() for name, shape in part.items()}


def gnn_layer_shapes(size, first):
    """Tensors of one message-passing layer; the first has no embedding of the neighbour's element of its own."""
    shapes = prefixed("edge_embedder", linear(size.d_pet, 4))
    shapes |= prefixed("compress.0", linear(size.d_pet, (2 if first else 3) * size.d_pet))
    shapes |= prefixed("compress.2", linear(size.d_pet, size.d_pet))
    if not first:
        shapes["neighbor_embedder.weight"] = (len(rival_common.SPECIES), size.d_pet)
    for layer in range(size.attention_layers):
        shapes |= prefixed(f"trans.layers.{layer}", attention_layer_shapes(size))
    return shapes


def readout_shapes(size, kind, width):
    """Tensors of the energy head on nodes or on edges (`kind`), whose features are `width` wide."""
    shapes = prefixed(f"{kind}_heads.energy.0.0", linear(size.d_head, width))
    shapes |= prefixed(f"{kind}_heads.energy.0.2", linear(size.d_head, size.d_head))
    return shapes | prefixed(f"{kind}_last_layers.energy.0.energy___0", linear(1, size.d_head))


def model_shapes(size):
    """Shape of every tensor of the model, by name."""
    species, pair = len(rival_common.SPECIES), 2 * size.d_pet
    shapes = {"node_embedders.0.weight": (species, size.d_node), "edge_embedder.weight": (species, size.d_pet)}
    for layer in range(size.gnn_layers):
        shapes |= prefixed(f"gnn_layers.{layer}", gnn_layer_shapes(size, first=layer == 0))
        shapes |= prefixed(f"combination_norms.{layer}", {"weight": (pair,), "bias": (pair,)})
        shapes |= prefixed(f"combination_mlps.{layer}.0", linear(pair, pair))
        shapes |= prefixed(f"combination_mlps.{layer}.2", linear(size.d_pet, pair))
    return shapes | readout_shapes(size, "node", size.d_node) | readout_shapes(size, "edge", size.d_pet)


def random_tensor(shape, generator):
    """Uniform values which keep the features of order one: matrices scaled by their inputs, vectors around one."""
    values = generator.uniform(-1, 1, size=shape).astype(np.float32)
    return values / np.float32(shape[1] ** 0.5) if len(shape) == 2 else 1 + values / 4


def write_safetensors(path, tensors):
    """The safetensors layout: length of the header (8 bytes), header (JSON), then the data of all tensors."""
    header, offset = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # the data must start at a multiple of eight bytes
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.tobytes())


def model_description(size, name):
    """The JSON half of a model: hyperparameters, elements, units."""
    species = rival_common.SPECIES
    hypers = {
        "d_pet": size.d_pet,
        "d_head": size.d_head,
        "d_node": size.d_node,
        "d_feedforward": size.d_feedforward,
        "num_heads": size.heads,
        "head_dim": size.d_pet // size.heads,
        "num_attention_layers": size.attention_layers,
        "num_gnn_layers": size.gnn_layers,
        "num_readout_layers": 1,
        "normalization": "RMSNorm",
        "activation": "SwiGLU",
        "transformer_type": "PreLN",
        "featurizer_type": "feedforward",
        "attention_temperature": 1.0,
        "cutoff": size.cutoff,
        "cutoff_width": size.cutoff_width,
        "cutoff_function": "Bump",
        "num_neighbors_adaptive": float(size.adaptive_neighbours),
        "adaptive_cutoff_method": "solver",
        "cutoff_width_adaptive": size.adaptive_cutoff_width,
        "system_conditioning": False,
        "max_charge": 10,
        "max_spin_multiplicity": 10,
        "zbl": False,
        "long_range_enabled": False,
    }
    return {
        "format_version": 1,
        "architecture": "pet",
        "source_model": f"random {name}",
        "target": "energy",
        "hypers": hypers,
        "length_unit": "angstrom",
        "energy_unit": "eV",
        "energy_scale": 1.0,
        "n_species": len(species),
        "atomic_types": species,
        "species_to_index": [species.index(z) if z in species else -1 for z in range(max(species) + 1)],
        "composition_energies": [0.0] * len(species),
    }


def write_model(folder, name):
    """A model of this size with random weights, unless it is there; returns the path without extension, as pet-kokkos takes it."""
    size, generator = rival_common.SIZES[name], np.random.default_rng(1)
    prefix = pathlib.Path(folder) / name
    if prefix.with_suffix(".whole").exists():
        return str(prefix)
    prefix.with_suffix(".json").write_text(json.dumps(model_description(size, name)))
    tensors = {tensor: random_tensor(shape, generator) for tensor, shape in model_shapes(size).items()}
    write_safetensors(prefix.with_suffix(".safetensors"), tensors)
    prefix.with_suffix(".whole").touch()  # nobody finds half a model, whatever ended the program that wrote it
    return str(prefix)


def time_program(args, model):
    """What a program for a GPU reports: its name, times and memory."""
    products = {} if args.products == "native" else {"PET_GEMM": args.products, "PET_ATTN": args.products}
    command = [args.program, model, args.structure, "--warm", "2", "--repeat", "20", "--seconds", str(args.seconds)]
    done = subprocess.run(command, env={**os.environ, **products}, capture_output=True, text=True, check=False)
    step = re.search(r"^TIME .*? step +median +([0-9.]+) ms +best +([0-9.]+) ms", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not step:
        raise SystemExit(f"{args.program}: exit status {done.returncode}\n{(done.stdout + done.stderr)[-2000:]}")
    pool = re.search(r"^MEM .*? pool ([0-9.]+) GiB", done.stdout, re.MULTILINE)
    return {"program": f"pet-kokkos, {args.products}", "size": args.size, "median_ms": float(step[1]), "min_ms": float(step[2]),
            "gpu_gib": float(pool[1]) if pool else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rival_common.add_arguments(parser)
    parser.add_argument("--list", default="kept", choices=["kept", "rebuilt"], help="the neighbour list between calls")
    parser.add_argument("--program", help="for a GPU, instead of the wheel")
    parser.add_argument("--models", metavar="FOLDER", help="with --program: where models are kept for the next call (L takes a gigabyte)")
    parser.add_argument("--products", default="native", choices=["native", "tf32"], help="of the program")
    args = parser.parse_args()
    if args.program:
        with tempfile.TemporaryDirectory(prefix="pet-kokkos-") as folder:
            print(json.dumps(time_program(args, write_model(args.models or folder, args.size))))
        return

    os.environ["OMP_NUM_THREADS"] = str(args.threads)  # read when the library is loaded
    import pet_kokkos

    import_rss = rival_common.peak_rss_mib()
    numbers, positions, cell = rival_common.read_structure(args.structure)
    with tempfile.TemporaryDirectory(prefix="pet-kokkos-") as folder:
        calculator = pet_kokkos.Calculator(write_model(folder, args.size), cache_neighbors=args.list == "kept")
    times = rival_common.time_calls(lambda: calculator.compute(numbers, positions, cell, True), args.seconds)
    version = importlib.metadata.version("pet-kokkos")
    kernels = os.environ.get("OPENBLAS_CORETYPE", "default")
    rival_common.print_report(
        f"pet-kokkos {version} ({pet_kokkos.backend()}), OpenBLAS kernels: {kernels}, list {args.list}",
        args, times, atoms=len(numbers), import_rss_mib=round(import_rss, 1),
    )


if __name__ == "__main__":
    main()
