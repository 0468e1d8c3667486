//! Logins that the command line keeps: how they begin and end, and what their file is proof
//! against.

use std::io::BufRead;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Browser, Dev, SIGNET, Server, json, text};

/// A person's account on this machine: a configuration folder, and nothing else.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("config/signet/contexts.json")
    }

    fn kept(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.file()).unwrap()).unwrap()
    }

    /// Writes what a test made of the file, as private as it was.
    fn write(&self, kept: &Value) {
        std::fs::write(self.file(), kept.to_string()).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(SIGNET);
        command
            .args(arguments)
            .arg("--json")
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path().join("config"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in [
            "SIGNET_SERVER",
            "SIGNET_CA_CERT",
            "SIGNET_ADMIN_TOKEN",
            "SIGNET_CLIENT_ID",
            "SIGNET_PASSWORD",
            "BROWSER",
            "DISPLAY",
            "WAYLAND_DISPLAY",
        ] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What a command answers that is done.
    fn done(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
        json(&output)
    }

    /// The exit code, the name and the words of a refusal.
    fn refused(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = self.run(arguments);
        let answer = json(&output);
        let member = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        (
            output.status.code(),
            member("error"),
            member("error_description"),
        )
    }

    /// `signet login` by a browser, as this account of dev.json.
    async fn by_browser(&self, dev: &Dev, account: &str, more: &[&str]) -> Output {
        let ca = dev.ca.to_str().unwrap();
        let login = ["login", "--server", &dev.issuer, "--ca-cert", ca];
        let mut command = self.command(&[&login, more].concat());
        // There is a browser, which the test is.
        command.env("BROWSER", "true");
        let (child, url) = until_said(&mut command, "/authorize?");
        let back = Browser::new(dev)
            .walk(&url, &dev.json[account], &[], "http://127.0.0.1:")
            .await
            .unwrap();
        dev.client().get(&back, &[]).await.unwrap();
        end_of(child).await
    }
}

/// Starts it, and gives the line in which it says this.
fn until_said(command: &mut Command, wanted: &str) -> (Child, String) {
    let mut child = command.spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stderr.take().unwrap()).lines();
    let said = lines.find_map(|line| line.ok().filter(|line| line.contains(wanted)));
    // The rest is read, so that nothing waits for it.
    std::thread::spawn(move || lines.for_each(drop));
    let said = said.unwrap_or_else(|| panic!("it never said {wanted}"));
    (child, said.trim().to_owned())
}

async fn end_of(child: Child) -> Output {
    tokio::task::spawn_blocking(|| child.wait_with_output().unwrap())
        .await
        .unwrap()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn a_login_by_a_browser_is_kept_for_its_owner_alone_and_used_by_commands_that_name_no_server()
{
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let home = Home::new();
    // Before: what helps is said.
    let (code, _, said) = home.refused(&["user", "list"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("signet login"), "{said}");
    let output = home.by_browser(&dev, "admin", &[]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let answer = json(&output);
    assert_eq!(answer["server"], dev.issuer.as_str());
    assert_eq!(answer["user"], "admin");
    assert_eq!(mode(&home.file()), 0o600);
    assert_eq!(mode(home.file().parent().unwrap()), 0o700);
    let kept = home.kept();
    let tokens = ["access_token", "refresh_token"];
    let tokens = tokens.map(|name| kept["contexts"][0][name].as_str().unwrap().to_owned());
    let listed = home.run(&["context", "list"]);
    for shown in [&output, &listed] {
        for token in &tokens {
            assert!(!text(&shown.stdout).contains(token.as_str()));
            assert!(!text(&shown.stderr).contains(token.as_str()));
        }
    }
    assert_eq!(json(&listed)[0]["current"], true);
    assert_eq!(home.done(&["user", "list"]).as_array().unwrap().len(), 2);
    // Where the same server is named, too; what is named otherwise comes first.
    home.done(&["client", "list", "--server", &dev.issuer]);
    let nowhere = home.0.path().join("nothing");
    let named = ["user", "list", "--data-dir", nowhere.to_str().unwrap()];
    assert_eq!(home.refused(&named).0, Some(2));
    // The same login elsewhere in the trail: the person, by the command line's own client.
    let sub = answer["sub"].as_str().unwrap();
    let path = ["user", "show", sub];
    assert_eq!(home.done(&path)["username"], "admin");
}

#[tokio::test]
async fn a_login_by_a_code_needs_no_browser_of_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let home = Home::new();
    // No browser is here: the code is the way by itself. The development server needs no URL.
    let mut command = home.command(&["login", "--data-dir", dev.dir(), "--name", "trial"]);
    let (child, line) = until_said(&mut command, "type the code");
    let code = line.rsplit(' ').next().unwrap().to_owned();
    let url = format!("{}/device", dev.issuer);
    let fields = [("user_code", code.as_str())];
    let mut browser = Browser::new(&dev);
    browser
        .walk(&url, &dev.json["admin"], &fields, "none")
        .await;
    let output = end_of(child).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(json(&output)["context"], "trial");
    assert_eq!(home.done(&["user", "list"]).as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn of_commands_at_once_one_refreshes_and_the_refresh_token_rotates() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let home = Home::new();
    home.by_browser(&dev, "admin", &[]).await;
    let mut kept = home.kept();
    let before = kept["contexts"][0]["refresh_token"].clone();
    kept["contexts"][0]["expires_at"] = json!(1);
    home.write(&kept);
    // Together: the second use of one refresh token would end the login of all of them.
    let children: Vec<Child> = (0..5)
        .map(|_| home.command(&["client", "list"]).spawn().unwrap())
        .collect();
    for child in children {
        let output = end_of(child).await;
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let after = home.kept();
    assert_ne!(after["contexts"][0]["refresh_token"], before);
    assert!(after["contexts"][0]["expires_at"].as_u64().unwrap() > 1);
    assert_eq!(mode(&home.file()), 0o600);
    // Whoever has the old one ends the login with it.
    kept["contexts"][0]["refresh_token"] = before;
    home.write(&kept);
    let (code, error, said) = home.refused(&["client", "list"]);
    assert_eq!((code, error.as_str()), (Some(1), "session_ended"));
    assert!(said.contains("signet login"), "{said}");
    home.write(&after);
    assert_eq!(home.refused(&["client", "list"]).1, "session_ended");
}

#[tokio::test]
async fn a_logout_ends_the_login_at_the_server_and_here() {
    let dir = tempfile::tempdir().unwrap();
    let (server, dev) = Server::dev(dir.path());
    let home = Home::new();
    home.by_browser(&dev, "admin", &[]).await;
    let kept = home.kept();
    assert_eq!(home.done(&["logout"])["revoked"], true);
    assert_eq!(home.done(&["context", "list"]), json!([]));
    assert_eq!(home.refused(&["logout"]).1, "not_found");
    // Whoever copied the file has nothing: neither token counts.
    home.write(&kept);
    assert_eq!(home.refused(&["user", "list"]).1, "session_ended");
    let mut expired = kept.clone();
    expired["contexts"][0]["expires_at"] = json!(1);
    home.write(&expired);
    assert_eq!(home.refused(&["user", "list"]).1, "session_ended");
    // A server that does not answer cannot know, and nothing stays here all the same.
    drop(server);
    home.write(&kept);
    let (code, _, said) = home.refused(&["logout"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("forgotten here"), "{said}");
    assert_eq!(home.kept()["contexts"], json!([]));
}

#[tokio::test]
async fn a_second_login_takes_the_place_of_the_first_and_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let home = Home::new();
    home.by_browser(&dev, "admin", &[]).await;
    let first = home.kept();
    let second = home.by_browser(&dev, "admin", &["--login", "admin"]).await;
    assert_eq!(second.status.code(), Some(0), "{}", text(&second.stdout));
    assert_eq!(home.done(&["context", "list"]).as_array().unwrap().len(), 1);
    let second = home.kept();
    home.write(&first);
    assert_eq!(home.refused(&["user", "list"]).1, "session_ended");
    home.write(&second);
    home.done(&["user", "list"]);
    // A further one under a name of its own, and back.
    home.by_browser(&dev, "admin", &["--name", "other"]).await;
    assert_eq!(home.kept()["current"], "other");
    let name = second["current"].as_str().unwrap();
    assert_eq!(home.done(&["context", "use", name])["context"], name);
    assert_eq!(home.kept()["current"], name);
    assert_eq!(home.refused(&["context", "use", "none"]).1, "not_found");
}

#[tokio::test]
async fn who_may_not_administer_and_who_is_somebody_else_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let home = Home::new();
    let alice = home.by_browser(&dev, "user", &[]).await;
    assert_eq!(alice.status.code(), Some(1));
    assert!(!home.file().exists());
    // Whoever saw the address of the login can open it first, and be somebody else.
    let other = home.by_browser(&dev, "admin", &["--login", "alice"]).await;
    assert_eq!(other.status.code(), Some(1), "{}", text(&other.stdout));
    assert_eq!(json(&other)["error"], "access_denied");
    assert!(!home.file().exists());
}

#[tokio::test]
async fn a_file_that_others_could_have_touched_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let home = Home::new();
    home.by_browser(&dev, "admin", &[]).await;
    let set = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(home.file(), permissions).unwrap();
    };
    // No command goes on to another server instead, and no login writes over it.
    for command in [
        &["user", "list"][..],
        &["context", "list"],
        &["logout"],
        &["login", "--server", "https://localhost:1"],
    ] {
        set(0o644);
        let (code, _, said) = home.refused(command);
        assert_eq!(code, Some(2), "{command:?}");
        assert!(said.contains("chmod 600"), "{said}");
        set(0o600);
    }
    home.done(&["user", "list"]);
    // What is not ours is not repeated: it may hold tokens.
    let kept = home.kept();
    for hostile in [
        "hunter2".to_owned(),
        kept.to_string().replace("https://", "http://hunter2"),
        kept.to_string().replace("\"sub\"", "\"hunter2\""),
        kept.to_string() + "hunter2",
    ] {
        std::fs::write(home.file(), hostile).unwrap();
        let output = home.run(&["user", "list"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(!text(&output.stderr).contains("hunter2"));
        assert!(!text(&output.stdout).contains("hunter2"));
    }
    // A named server and a caller of its own need no file.
    let service = [
        ("SIGNET_CLIENT_ID", &dev.json["admin_client"]["client_id"]),
        (
            "SIGNET_CLIENT_SECRET",
            &dev.json["admin_client"]["client_secret"],
        ),
    ];
    let mut command = home.command(&["user", "list", "--server", &dev.issuer]);
    command.env("SIGNET_CA_CERT", &dev.ca);
    for (name, value) in service {
        command.env(name, value.as_str().unwrap());
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
