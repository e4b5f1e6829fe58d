#!/usr/bin/env python3
"""Time the reference implementation of PET (metatrain, PyTorch): energy and forces of one structure.

    rival_torch.py --wheel metatrain-2026.4.1-py3-none-any.whl --size xs --structure water192.xyz --mode eager
    rival_torch.py --wheel metatrain-2026.4.1-py3-none-any.whl --size s32 --structure water17280.xyz --mode compile --device cuda

Needs torch and numpy. PET's plain PyTorch modules are read from metatrain's wheel (`pip download --no-deps metatrain`);
the packages which they import for other purposes are replaced by empty ones. The weights are random: the time of an
evaluation does not depend on them. An evaluation is adaptive cutoffs, selection of edges, energy, and forces by
reverse mode; the neighbour list is made once and not timed. Peak memory is that of the whole process, with
`import_rss_mib` of it already taken before the model is made; on a GPU, `gpu_gib` is the most that tensors took.
"""
import argparse
import importlib
import itertools
import pathlib
import sys
import tempfile
import types
import zipfile

import torch

import rival_common


def stand_in(name, classes=(), path=None):
    """Register an importable package `name` with empty classes, whose submodules are found under `path` (if given)."""
    package = types.ModuleType(name)
    package.__path__ = [str(path)] if path else []
    for class_name in classes:
        setattr(package, class_name, type(class_name, (), {}))
    sys.modules[name] = package


def load_backend(wheel):
    """The class of PET's PyTorch modules, from the wheel, without metatrain's dependencies."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="metatrain-"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root, [name for name in archive.namelist() if name.startswith("metatrain/pet/modules/")])
    stand_in("metatensor")
    stand_in("metatensor.torch", ["Labels", "TensorBlock", "TensorMap"])
    stand_in("metatomic")
    stand_in("metatomic.torch", ["ModelOutput", "NeighborListOptions", "System"])
    stand_in("metatrain", path=root / "metatrain")
    stand_in("metatrain.pet", path=root / "metatrain/pet")
    stand_in("metatrain.pet.documentation", ["ModelHypers"])
    stand_in("metatrain.pet.modules", path=root / "metatrain/pet/modules")
    return importlib.import_module("metatrain.pet.modules.backend").PETBackend


def make_model(backend, size):
    """A model of this size with random weights and one output, the energy."""
    hypers = {
        "cutoff": size.cutoff,
        "cutoff_function": "Bump",
        "cutoff_width": size.cutoff_width,
        "num_neighbors_adaptive": size.adaptive_neighbours,
        "adaptive_cutoff_method": "solver",
        "d_pet": size.d_pet,
        "d_node": size.d_node,
        "d_head": size.d_head,
        "d_feedforward": size.d_feedforward,
        "num_heads": size.heads,
        "num_gnn_layers": size.gnn_layers,
        "num_attention_layers": size.attention_layers,
        "normalization": "RMSNorm",
        "activation": "SwiGLU",
        "attention_temperature": 1.0,
        "transformer_type": "PreLN",
        "featurizer_type": "feedforward",
        "system_conditioning": False,
        "long_range": {"enable": False},
    }
    torch.manual_seed(1)
    model = backend(hypers, rival_common.SPECIES)
    model.add_output("energy", {"energy": [1]})
    return model.eval().requires_grad_(False)


def neighbour_list(positions, cell, cutoff, rows=1024):
    """All directed pairs within the cutoff: centres [P], neighbours [P] and cell shifts [P][3] of the neighbours.

    Every pair of atoms is looked at, `rows` centres at a time, on the device that holds the tensors."""
    inverse = torch.linalg.inv(cell)
    # Lattice planes are volume / |area vector| apart: so many periodic images can reach into the cutoff sphere.
    fractional = positions @ inverse
    reach = torch.ceil(cutoff * inverse.norm(dim=0) + fractional.amax(0) - fractional.amin(0)).long().tolist()
    found = []
    for shift in itertools.product(*(range(-r, r + 1) for r in reach)):
        moved = positions + torch.tensor(shift, dtype=cell.dtype, device=cell.device) @ cell
        for first in range(0, len(positions), rows):
            near = (moved[None] - positions[first : first + rows, None]).norm(dim=-1) <= cutoff
            if not any(shift):
                near.diagonal(first).fill_(False)  # an atom is not its own neighbour
            centres, neighbours = near.nonzero(as_tuple=True)
            found.append((centres + first, neighbours, torch.tensor(shift, device=cell.device).expand(len(centres), 3)))
    return tuple(torch.cat(parts) for parts in zip(*found))


def make_step(model, size, structure, compiled, device, dtype=torch.float32):
    """A function of no arguments that evaluates (energy, forces), and the number of edges that PET keeps."""
    numbers, positions, cell = (torch.from_numpy(part).to(device) for part in structure)
    pairs = neighbour_list(positions, cell, size.cutoff)
    # The same numbers whatever the type, so that results can be compared.
    positions, cells = positions.float().to(dtype), cell.float().to(dtype)[None]
    system = torch.zeros(len(numbers), dtype=torch.long, device=device)

    def prepare(moving):
        centres, neighbours, shifts = pairs
        return model.preprocess(
            moving, centres, neighbours, numbers, cells, shifts, system, size.adaptive_cutoff_width
        )

    def network(batch):
        nodes, edges = model.calculate_features(batch)
        return model.predict(nodes, edges, batch, cells, system, ["energy"])[0]["energy"][0].sum()

    if compiled:
        network = torch.compile(network, dynamic=False)

    def step():
        moving = positions.clone().requires_grad_(True)
        energy = network(prepare(moving))
        forces = -torch.autograd.grad(energy, moving)[0]
        if device == "cuda":
            torch.cuda.synchronize()
        return energy, forces

    return step, len(prepare(positions)["centers"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rival_common.add_arguments(parser)
    parser.add_argument("--wheel", required=True, help="metatrain's wheel")
    parser.add_argument("--mode", default="eager", choices=["eager", "compile"])
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    import_rss = rival_common.peak_rss_mib()
    size, structure = rival_common.SIZES[args.size], rival_common.read_structure(args.structure)
    model = make_model(load_backend(args.wheel), size).to(args.device)
    step, edges = make_step(model, size, structure, args.mode == "compile", args.device)
    times = rival_common.time_calls(step, args.seconds)
    memory = {"gpu_gib": round(torch.cuda.max_memory_allocated() / 2**30, 3)} if args.device == "cuda" else {}
    version = pathlib.Path(args.wheel).name.split("-")[1]
    rival_common.print_report(
        f"metatrain {version}, torch {torch.__version__}, {args.mode}",
        args, times, atoms=len(structure[0]), edges=edges, import_rss_mib=round(import_rss, 1), **memory,
    )


if __name__ == "__main__":
    main()
