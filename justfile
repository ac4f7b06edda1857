# Formatting, lints and docs, with warnings denied.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --workspace --all-features

# Format everything.
fmt:
    cargo fmt --all

# Every test that needs nothing but this repository.
test:
    cargo test --workspace

# The programs that must, or must not, compile.
ui:
    cargo test -p tinyagents-ui-tests

# Accept what the compiler says and what the macro writes now; then review the diff.
bless:
    TRYBUILD=overwrite BLESS=1 cargo test -p tinyagents-ui-tests -p tinyagents-macros

# The library's documentation, in the browser.
doc:
    cargo doc --no-deps -p tinyagents --all-features --open

# Benches; each prints its ratio to a baseline of the same run.
bench:
    cargo bench -p tinyagents-tests
    python3 tests/benches/compile_time.py
