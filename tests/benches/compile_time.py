#!/usr/bin/env python3
"""What `#[tool]` costs at every build: `cargo check` of 100 tools against what a user would write without it.

Guarantee: CPU time (user and system, of cargo and all it starts) with dependencies built and incremental builds off,
the crates in turn, the median of 9 rounds; exits with 1 if 100 tools cost more than 0.75 of 100 argument structs
with `Deserialize` and `JsonSchema` and 100 async functions.

Not here: code generation. `--peers` compares with other libraries' macros too, which are fetched from the registry.

    python3 tests/benches/compile_time.py [--peers] [--rounds N] [--tools N]
"""

import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "compile-time"
MOST = 0.75

OURS = '''
/// Search the index.
#[tinyagents::tool]
pub async fn search_{i}(
    /// Words to look for.
    query: String,
    /// How many results to return.
    limit: u32,
) -> String {{
    format!("{{query}}{{limit}}{i}")
}}
'''

STRUCTS = '''
/// Search the index.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Search{i} {{
    /// Words to look for.
    pub query: String,
    /// How many results to return.
    pub limit: u32,
}}

/// Search the index.
pub async fn search_{i}(Search{i} {{ query, limit }}: Search{i}) -> String {{
    format!("{{query}}{{limit}}{i}")
}}
'''

RIG = '''
/// Search the index.
#[rig_derive::rig_tool]
pub async fn search_{i}(
    /// Words to look for.
    query: String,
    /// How many results to return.
    limit: u32,
) -> Result<String, rig_core::tool::ToolExecutionError> {{
    Ok(format!("{{query}}{{limit}}{i}"))
}}
'''

RMCP_ARGUMENTS = '''
/// Search the index.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Search{i} {{
    /// Words to look for.
    pub query: String,
    /// How many results to return.
    pub limit: u32,
}}
'''

RMCP = '''
    /// Search the index.
    #[rmcp::tool]
    pub async fn search_{i}(&self, Parameters(Search{i} {{ query, limit }}): Parameters<Search{i}>) -> String {{
        format!("{{query}}{{limit}}{i}")
    }}
'''

OWN = 'tinyagents = { path = "%s" }\n' % (ROOT / "tinyagents").as_posix()
DERIVES = 'serde = { version = "1", features = ["derive"] }\nschemars = { version = "1", features = ["derive"] }\n'


def repeated(template, tools):
    return "".join(template.format(i=i) for i in range(tools))


def crates(tools, peers):
    """Name, dependencies and program of each crate. The first two have the same dependencies."""
    yield "tools", OWN + DERIVES, repeated(OURS, tools)
    yield "structs", OWN + DERIVES, repeated(STRUCTS, tools)
    if peers:
        yield "rig", DERIVES + 'rig-core = "0.44"\nrig-derive = "0.44"\nserde_json = "1"\n', repeated(RIG, tools)
        yield "rmcp", DERIVES + 'rmcp = { version = "3", features = ["server", "macros"] }\n', (
            "use rmcp::handler::server::wrapper::Parameters;\n"
            + repeated(RMCP_ARGUMENTS, tools)
            + "\npub struct Server;\n\n#[rmcp::tool_router(vis = \"pub\")]\nimpl Server {"
            + repeated(RMCP, tools)
            + "}\n"
        )


def write(name, dependencies, program):
    folder = FOLDER / name
    (folder / "src").mkdir(parents=True, exist_ok=True)
    manifest = f'[package]\nname = "{name}"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n'
    (folder / "Cargo.toml").write_text(manifest + dependencies)
    (folder / "src" / "lib.rs").write_text("//! Measured.\n" + program)
    # The versions of the project; cargo adds to it what only a peer needs.
    shutil.copy(ROOT / "Cargo.lock", folder / "Cargo.lock")


def check(name, offline):
    """CPU seconds of one `cargo check` in which nothing but the crate itself is compiled."""
    folder = FOLDER / name
    (folder / "src" / "lib.rs").touch()
    command = ["cargo", "check", "--quiet", "--manifest-path", str(folder / "Cargo.toml")]
    command += ["--target-dir", str(FOLDER / "target")] + (["--offline"] if offline else [])
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CARGO_PKG_", "CARGO_MANIFEST_"))}
    environment["CARGO_INCREMENTAL"] = "0"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        sys.exit(f"the crate `{name}` does not compile:\n{result.stderr}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--peers", action="store_true", help="compare with rig-derive and rmcp, from the registry")
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--tools", type=int, default=100)
    given = arguments.parse_args()

    names = []
    for name, dependencies, program in crates(given.tools, given.peers):
        write(name, dependencies, program)
        check(name, offline=not given.peers)  # builds what it depends on
        names.append(name)
    times = {name: [] for name in names}
    for _ in range(given.rounds):
        for name in names:
            times[name].append(check(name, offline=True))

    median = {name: statistics.median(times[name]) for name in names}
    print(f"cargo check of {given.tools} two-argument tools, CPU seconds, median of {given.rounds}")
    for name in names:
        spread = f"{min(times[name]):.3f} to {max(times[name]):.3f}"
        ratio = "" if name == "tools" else f"  tools/{name} = {median['tools'] / median[name]:.2f}"
        print(f"  {name:8} {median[name]:.3f}  ({spread}){ratio}")
    ratio = median["tools"] / median["structs"]
    verdict = "within" if ratio <= MOST else "ABOVE"
    print(f"ratio {ratio:.3f}, {verdict} the bound of {MOST}")
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
