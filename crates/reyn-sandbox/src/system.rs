//! What programs need from a system to run at all, and what toolchains need from a home folder.
//!
//! Lists hold what is there. None names a file with a key, a password or a token.

use std::path::{Path, PathBuf};

/// Folders and files that programs of the system read.
const READ: [&str; 62] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/random",
    "/dev/urandom",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/bash_completion.d",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/default/locale",
    "/etc/environment",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/profile",
    "/etc/profile.d",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/rpc",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];
/// Devices that programs read and write.
const WRITE: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];
/// What toolchains keep in a home folder.
const TOOLCHAINS: [&str; 32] = [
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".cargo/config.toml",
    ".cargo/config",
    ".cargo/env",
    ".rustup",
    ".pyenv",
    ".rbenv",
    ".nvm",
    ".volta",
    ".bun/bin",
    ".deno/bin",
    ".asdf",
    ".sdkman",
    ".local/bin",
    ".local/lib",
    ".local/pipx/venvs",
    ".local/share/uv",
    ".local/share/pipx",
    ".local/share/mise",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".juliaup",
    ".ghcup",
    ".elan",
    "go",
    ".gitconfig",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
    ".editorconfig",
];
/// What of a program's prefix it may read.
const PREFIX: [&str; 6] = ["bin", "lib", "lib64", "libexec", "share", "include"];

/// What every program may read.
pub fn read_paths() -> Vec<PathBuf> {
    existing(READ.iter().map(PathBuf::from))
}

/// What every program may read and write: devices that keep nothing.
pub fn write_paths() -> Vec<PathBuf> {
    existing(WRITE.iter().map(PathBuf::from))
}

/// What toolchains keep below `home`, and the prefixes of the folders of `path` (parted by `:`).
pub fn toolchain_paths(home: &Path, path: &std::ffi::OsStr) -> Vec<PathBuf> {
    let own = TOOLCHAINS.iter().map(|entry| home.join(entry));
    let named = std::env::split_paths(path)
        .filter(|folder| folder.is_absolute() && folder.ends_with("bin"))
        .flat_map(|folder| prefix_paths(&folder.join("program"), home));
    let mut found = existing(own.chain(named));
    found.sort();
    found.dedup();
    found
}

/// Variables that name a toolchain's folder, and what of it programs read; nothing means all of it.
const NAMED: [(&str, &[&str]); 9] = [
    ("CARGO_HOME", &["bin", "registry", "git", "config.toml", "config", "env"]),
    ("RUSTUP_HOME", &[]),
    ("PYENV_ROOT", &[]),
    ("RBENV_ROOT", &[]),
    ("NVM_DIR", &[]),
    ("GOROOT", &[]),
    ("GOPATH", &["bin", "pkg", "src"]),
    ("JAVA_HOME", &[]),
    ("VIRTUAL_ENV", &[]),
];

/// The folders of toolchains that variables name. Never a home folder, nor one that holds it.
pub fn named_paths(home: &Path, variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Vec<PathBuf> {
    let named = NAMED.iter().filter_map(|(name, parts)| Some((PathBuf::from(variable(name)?), *parts)));
    let apart = named.filter(|(folder, _)| folder.is_absolute() && !home.starts_with(folder));
    existing(apart.flat_map(|(folder, parts)| {
        if parts.is_empty() { vec![folder] } else { parts.iter().map(|part| folder.join(part)).collect() }
    }))
}

/// What belongs to a program at `X/bin/program`: `X/bin`, `X/lib` and the like; the file alone where it lies elsewhere.
///
/// Never a home folder itself, nor one that holds it: `~/bin/program` brings `~/bin` and no more.
pub fn program_paths(program: &Path, home: &Path) -> Vec<PathBuf> {
    let real = program.canonicalize().ok();
    let mut found: Vec<PathBuf> = [Some(program.to_owned()), real.clone()].into_iter().flatten().collect();
    found.extend(prefix_paths(program, home));
    found.extend(real.iter().flat_map(|real| prefix_paths(real, home)));
    let mut found = existing(found);
    found.sort();
    found.dedup();
    found
}

fn prefix_paths(program: &Path, home: &Path) -> Vec<PathBuf> {
    let Some(bin) = program.parent().filter(|folder| folder.ends_with("bin")) else { return vec![] };
    let Some(prefix) = bin.parent().filter(|prefix| *prefix != Path::new("/")) else { return vec![] };
    if home.starts_with(prefix) {
        return vec![bin.to_owned()];
    }
    let mut found: Vec<PathBuf> = PREFIX.iter().map(|entry| prefix.join(entry)).collect();
    // A virtual environment says in this file where its interpreter is.
    found.push(prefix.join("pyvenv.cfg"));
    existing(found)
}

fn existing(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    paths.into_iter().filter(|path| path.exists()).collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn a_program_brings_its_prefix_but_never_a_home_folder() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for entry in ["bin", "lib", "tool/bin", "tool/lib", "tool/etc", ".ssh"] {
            std::fs::create_dir_all(home.join(entry)).unwrap();
        }
        for program in ["bin/own", "tool/bin/run"] {
            std::fs::write(home.join(program), "").unwrap();
        }
        assert_eq!(program_paths(&home.join("bin/own"), &home), [home.join("bin"), home.join("bin/own")]);
        let expected = [home.join("tool/bin"), home.join("tool/bin/run"), home.join("tool/lib")];
        assert_eq!(program_paths(&home.join("tool/bin/run"), &home), expected);
        let path = format!("{0}/tool/bin:bin:{0}", home.display());
        assert_eq!(toolchain_paths(&home, OsStr::new(&path)), [home.join("tool/bin"), home.join("tool/lib")]);
    }

    #[test]
    fn a_variable_brings_its_toolchain_and_no_home_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for entry in ["home", "cargo/bin", "cargo/registry", "jdk"] {
            std::fs::create_dir_all(root.join(entry)).unwrap();
        }
        std::fs::write(root.join("cargo/credentials.toml"), "").unwrap();
        let given = |name: &str| match name {
            "CARGO_HOME" => Some(root.join("cargo").into_os_string()),
            "JAVA_HOME" => Some(root.join("jdk").into_os_string()),
            "NVM_DIR" => Some(root.join("home").into_os_string()),
            "GOROOT" => Some(root.clone().into_os_string()),
            "PYENV_ROOT" => Some("relative".into()),
            _ => None,
        };
        let expected = ["cargo/bin", "cargo/registry", "jdk"].map(|entry| root.join(entry));
        assert_eq!(named_paths(&root.join("home"), given), expected);
    }

    #[test]
    fn no_list_names_a_secret() {
        let secret = ["shadow", "sudoers", "ssh", "private", "credentials", "token", "netrc", "aws", "gnupg"];
        for path in READ.iter().chain(&WRITE).chain(&TOOLCHAINS) {
            assert!(!secret.iter().any(|word| path.split('/').any(|part| part == *word)), "{path}");
        }
    }
}
