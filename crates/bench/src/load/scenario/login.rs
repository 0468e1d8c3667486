//! The full login with a mailed code: authorization request, login page, code page, consent where
//! it was not given yet, and the code's redemption for tokens, as a browser and an application do
//! it through the public endpoints. The mail is read from the development server's folder.

use std::{
    collections::HashMap,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use signet_crypto::hash::sha256;
use signet_encoding::base64url;

use super::{
    Scenario, Site, authorization, get,
    oracle::{Expected, Seen, Witness},
    post,
};
use crate::client::{Failure, Target};
use crate::load::arrivals::{Actor, Answer, Verdict};
use crate::load::flow::{self, Cookies};
use crate::nodes::said;

/// People who log in. Each may ask for ten mails in a quarter of an hour, all for five thousand.
const PEOPLE: usize = 480;
/// Mails of one person.
const MAILS: usize = 10;
/// Addresses that the browsers come from: each may ask for a thousand mails.
const ADDRESSES: u8 = 8;
/// Pages of a login, at most.
const PAGES: u32 = 8;

struct Person {
    address: String,
    sub: String,
}

struct Logins {
    people: Arc<Vec<Person>>,
    next: Arc<AtomicUsize>,
    post: Arc<Post>,
    hosts: Vec<String>,
    issuer: String,
    path: String,
    redirect: String,
    web: String,
    caller: String,
    seen: Arc<Seen>,
}

pub(super) fn prepare(site: &Site, _: u64) -> Result<Box<dyn Scenario>, Failure> {
    let web = site.provider.known_client("web")?;
    let redirect = site.redirect()?;
    let people: Vec<Person> = (0..PEOPLE)
        .map(|number| Person {
            address: address(number),
            sub: base64url::encode(&sha256(address(number).as_bytes())[..16]),
        })
        .collect();
    import(site.provider.server.directory(), &people)?;
    let folders = site
        .provider
        .nodes()
        .map(|node| node.directory().join("mail"));
    Ok(Box::new(Logins {
        people: Arc::new(people),
        next: Arc::default(),
        post: Post::read(folders.collect()),
        hosts: site.hosts()?,
        issuer: site.provider.issuer.clone(),
        path: flow::authorization_path(web.client_id(), &redirect, ""),
        redirect,
        web: web.client_id().to_owned(),
        caller: authorization(&site.basic(&web)?),
        seen: Seen::new(site.keys()?.2),
    }))
}

fn address(number: usize) -> String {
    format!("person{number}@example.test")
}

/// Makes the accounts, in one run of the command.
fn import(directory: &Path, people: &[Person]) -> Result<(), Failure> {
    let lines: String = people
        .iter()
        .map(|Person { address, sub }| {
            let username = address.split('@').next().unwrap_or(address);
            let line = serde_json::json!({ "id": sub, "username": username, "email": address,
                                           "email_verified": true });
            format!("{line}\n")
        })
        .collect();
    let file = directory.join("people.jsonl");
    std::fs::write(&file, lines)?;
    let file = file.to_str().ok_or("a folder whose name is no text")?;
    said(directory, &["user", "import", file])?;
    Ok(())
}

impl Scenario for Logins {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        Box::new(Login {
            people: self.people.clone(),
            next: self.next.clone(),
            post: self.post.clone(),
            host: self.hosts[number % self.hosts.len()].clone(),
            issuer: self.issuer.clone(),
            path: self.path.clone(),
            redirect: self.redirect.clone(),
            web: self.web.clone(),
            caller: self.caller.clone(),
            witness: Witness::new(&self.seen),
            cookies: Cookies::default(),
            person: 0,
            pages: 0,
            waiting: None,
            redeeming: false,
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        self.seen.settle()
    }

    fn most(&self) -> Option<u64> {
        Some((PEOPLE * MAILS) as u64)
    }

    fn targets(&self, site: &Site) -> Result<Vec<Target>, Failure> {
        let mut targets = Vec::new();
        for last in 1..=ADDRESSES {
            let own = site.targets()?.into_iter();
            targets.extend(own.map(|target| target.from(Ipv4Addr::new(127, 0, 1, last))));
        }
        Ok(targets)
    }
}

impl Drop for Logins {
    fn drop(&mut self) {
        self.post.ended.store(true, Relaxed);
    }
}

/// The newest code of each address, from the folders that the nodes write to.
struct Post {
    codes: Mutex<HashMap<String, String>>,
    ended: AtomicBool,
}

impl Post {
    /// Reads what comes, in a thread of its own, until it is asked to end.
    fn read(folders: Vec<PathBuf>) -> Arc<Post> {
        let post = Arc::new(Post {
            codes: Mutex::default(),
            ended: AtomicBool::new(false),
        });
        let reader = post.clone();
        std::thread::spawn(move || {
            while !reader.ended.load(Relaxed) {
                let files = folders
                    .iter()
                    .filter_map(|folder| std::fs::read_dir(folder).ok());
                for file in files.flatten().filter_map(Result::ok) {
                    let path = file.path();
                    if path.extension().is_none_or(|ending| ending != "eml") {
                        continue;
                    }
                    let Ok(text) = std::fs::read_to_string(&path) else {
                        continue;
                    };
                    if let Some((address, code)) = letter(&text) {
                        let mut codes = reader.codes.lock().unwrap_or_else(PoisonError::into_inner);
                        codes.insert(address, code);
                    }
                    // The folder stays short.
                    let _ = std::fs::remove_file(&path);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        post
    }

    fn take(&self, address: &str) -> Option<String> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.remove(address)
    }
}

/// Receiver and code of a letter: the line that is six digits and nothing else.
fn letter(text: &str) -> Option<(String, String)> {
    let to = text.lines().find_map(|line| line.strip_prefix("To: "))?;
    let address = to.trim().trim_start_matches('<').trim_end_matches('>');
    let is_code = |line: &&str| line.len() == 6 && line.bytes().all(|b| b.is_ascii_digit());
    let code = text.lines().map(str::trim).find(is_code)?;
    Some((address.to_owned(), code.to_owned()))
}

struct Login {
    people: Arc<Vec<Person>>,
    next: Arc<AtomicUsize>,
    post: Arc<Post>,
    host: String,
    issuer: String,
    path: String,
    redirect: String,
    web: String,
    caller: String,
    witness: Witness,
    cookies: Cookies,
    person: usize,
    pages: u32,
    /// The code page's form, while the mail is on its way.
    waiting: Option<(String, Vec<(String, String)>)>,
    redeeming: bool,
}

impl Login {
    fn person(&self) -> &Person {
        &self.people[self.person]
    }

    fn follow(&self, location: &str) -> Vec<u8> {
        let path = location.strip_prefix(&self.issuer).unwrap_or(location);
        get(
            &self.host,
            path,
            &format!("cookie: {}\r\n", self.cookies.header()),
        )
    }

    fn submit(&self, action: &str, fields: &[(String, String)]) -> Vec<u8> {
        // The actions are relative to a page one segment below the issuer.
        let path = format!("/{}", action.trim_start_matches('/'));
        let (cookies, host) = (self.cookies.header(), &self.host);
        let headers = format!("cookie: {cookies}\r\norigin: https://{host}\r\n");
        post(host, &path, &headers, &flow::encode(fields))
    }

    fn redeem(&self, location: &str) -> Option<Vec<u8>> {
        let mut pairs = location.split(['?', '&']);
        let code = pairs.find_map(|pair| pair.strip_prefix("code="))?;
        let redirect = self.redirect.replace(':', "%3A").replace('/', "%2F");
        let body = format!(
            "grant_type=authorization_code&code={code}&redirect_uri={redirect}&code_verifier={}",
            flow::VERIFIER
        );
        Some(post(&self.host, "/token", &self.caller, &body))
    }
}

impl Actor for Login {
    fn begin(&mut self) -> Vec<u8> {
        // A browser that was never here.
        self.cookies = Cookies::default();
        self.person = self.next.fetch_add(1, Relaxed) % self.people.len();
        self.pages = 0;
        self.redeeming = false;
        get(&self.host, &self.path, "")
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        if answer.is_shed() {
            return Verdict::Shed;
        }
        if self.redeeming {
            let expected = Expected {
                issuer: self.issuer.clone(),
                client_id: self.web.clone(),
                sub: self.person().sub.clone(),
                actor: None,
                until: u64::MAX,
            };
            if answer.status != 200 {
                return Verdict::Wrong(answer.shown());
            }
            return match self.witness.token(answer.body, &expected) {
                Ok(_) => Verdict::Right,
                Err(why) => Verdict::Wrong(why),
            };
        }
        self.pages += 1;
        if self.pages > PAGES {
            return Verdict::Wrong("the login does not come to an end".into());
        }
        self.cookies.take(answer.headers("set-cookie"));
        if let Some(location) = answer.header("location") {
            if !location.starts_with(&self.redirect) {
                return Verdict::Next(self.follow(location));
            }
            self.redeeming = true;
            return match self.redeem(location) {
                Some(request) => Verdict::Next(request),
                None => Verdict::Wrong(format!("no code: {location}")),
            };
        }
        let page = String::from_utf8_lossy(answer.body);
        let Some((action, mut fields)) = flow::form(&page) else {
            return Verdict::Wrong(format!("a page without a form: {}", answer.shown()));
        };
        let mut field = |name: &str, value: &str| fields.push((name.to_owned(), value.to_owned()));
        if page.contains("name=\"otp\"") {
            self.waiting = Some((action, fields));
            return Verdict::Wait;
        }
        if page.contains("name=\"username\"") {
            field("username", &self.person().address);
            field("decision", "email");
        } else {
            field("decision", "allow");
        }
        Verdict::Next(self.submit(&action, &fields))
    }

    fn waited(&mut self) -> Option<Vec<u8>> {
        let code = self.post.take(&self.person().address)?;
        let (action, mut fields) = self.waiting.take()?;
        fields.push(("otp".to_owned(), code));
        fields.push(("decision".to_owned(), "allow".to_owned()));
        Some(self.submit(&action, &fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_has_a_receiver_and_six_digits_on_a_line_of_their_own() {
        let text =
            "From: signet@localhost\r\nTo: person7@example.test\r\n\r\n123456\r\n\r\nis your code";
        let read = letter(text);
        assert_eq!(read, Some(("person7@example.test".into(), "123456".into())));
        assert_eq!(letter("To: <a@b.test>\n\nno code 123456"), None);
    }
}
