//! The reader on terminals of its own.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{Receiver, channel};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use super::*;
use crate::input::{Key, KeyCode};

const TIME_MAX: Duration = Duration::from_secs(10);

/// A terminal: the side of its window, and the side of the program.
fn terminal() -> (File, OwnedFd) {
    let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&window).unwrap();
    unlockpt(&window).unwrap();
    let name = ptsname(&window, vec![]).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let program = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
    let mut modes = tcgetattr(&program).unwrap();
    modes.make_raw();
    tcsetattr(&program, OptionalActions::Now, &modes).unwrap();
    resize(&program, 80);
    (File::from(window), program)
}

fn resize(terminal: &impl AsFd, columns: u16) {
    tcsetwinsize(terminal, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

fn started(program: OwnedFd) -> (InputReader, Receiver<Input>) {
    let (sender, receiver) = channel();
    let reader = InputReader::on(program, move |input| sender.send(input).is_ok()).unwrap();
    (reader, receiver)
}

#[track_caller]
fn next(receiver: &Receiver<Input>) -> Input {
    receiver.recv_timeout(TIME_MAX).unwrap()
}

#[test]
fn keys_and_pastes_arrive_and_a_lone_escape_does_too() {
    let (mut window, program) = terminal();
    let (_reader, receiver) = started(program);
    window.write_all("日\x1b[A\x1b[200~x\ny\x1b[201~ÿ".as_bytes()).unwrap();
    assert_eq!(next(&receiver), Input::Key(Key::char('日')));
    assert_eq!(next(&receiver), Input::Key(Key::plain(KeyCode::Up)));
    assert_eq!(next(&receiver), Input::Paste("x\ny".to_owned()));
    assert_eq!(next(&receiver), Input::Key(Key::char('ÿ')));
    window.write_all(b"\xff\xe3\x1b").unwrap();
    assert_eq!(next(&receiver), Input::Key(Key::plain(KeyCode::Esc)));
}

#[test]
fn enter_that_was_typed_before_the_terminal_was_raw_is_enter() {
    let (mut window, program) = terminal();
    let raw = tcgetattr(&program).unwrap();
    let mut cooked = raw.clone();
    cooked.input_modes |= rustix::termios::InputModes::ICRNL;
    tcsetattr(&program, OptionalActions::Now, &cooked).unwrap();
    window.write_all(b"a\r").unwrap();
    while rustix::io::ioctl_fionread(&program).unwrap() < 2 {
        std::thread::yield_now();
    }
    tcsetattr(&program, OptionalActions::Now, &raw).unwrap();
    let (_reader, receiver) = started(program);
    assert_eq!(next(&receiver), Input::Key(Key::char('a')));
    assert_eq!(next(&receiver), Input::Key(Key::plain(KeyCode::Enter)));
    window.write_all(b"\n").unwrap();
    assert_eq!(next(&receiver), Input::Key(Key::control('j')));
}

#[test]
fn a_window_that_closes_is_told_once_and_the_reader_ends() {
    let (mut window, program) = terminal();
    let (reader, receiver) = started(program);
    window.write_all(b"a\x1b[").unwrap();
    assert_eq!(next(&receiver), Input::Key(Key::char('a')));
    drop(window);
    // The half sequence is a key when nothing follows it for a tick.
    let half = Input::Key(Key::char('[').alt());
    let after = next(&receiver);
    let last = if after == half { next(&receiver) } else { after };
    assert_eq!(last, Input::Closed);
    assert!(receiver.recv_timeout(TIME_MAX).is_err(), "nothing comes after it");
    drop(reader);
}

#[test]
fn a_new_size_is_told_once() {
    let (mut window, program) = terminal();
    let (_reader, receiver) = started(program);
    window.write_all(b"a").unwrap();
    assert_eq!(next(&receiver), Input::Key(Key::char('a')));
    resize(&window, 100);
    assert_eq!(next(&receiver), Input::Resize { columns: 100, rows: 24 });
    window.write_all(b"b").unwrap();
    assert_eq!(next(&receiver), Input::Key(Key::char('b')));
}

#[test]
fn a_paused_reader_leaves_the_keys_to_others() {
    let (mut window, program) = terminal();
    let other = program.try_clone().unwrap();
    let (reader, receiver) = started(program);
    window.write_all(b"a").unwrap();
    assert_eq!(next(&receiver), Input::Key(Key::char('a')));
    reader.pause();
    window.write_all(b"bcd").unwrap();
    let mut buffer = [0; 2];
    assert_eq!(rustix::io::read(&other, &mut buffer), Ok(2));
    assert_eq!(&buffer, b"bc");
    reader.resume();
    assert_eq!(next(&receiver), Input::Key(Key::char('d')));
}

#[test]
fn nobody_listening_ends_the_thread() {
    let (mut window, program) = terminal();
    let (reader, receiver) = started(program);
    drop(receiver);
    window.write_all(b"a").unwrap();
    assert!(reader.shared.wait_while(|state| !state.has_ended));
}

#[test]
fn a_listener_that_stands_still_does_not_hold_up_the_end() {
    let (mut window, program) = terminal();
    let (called, was_called) = channel();
    let (release, released) = channel::<()>();
    let reader = InputReader::on(program, move |_| {
        called.send(()).unwrap();
        released.recv().is_ok()
    });
    window.write_all(b"a").unwrap();
    was_called.recv_timeout(TIME_MAX).unwrap();
    let reader = reader.unwrap();
    reader.pause();
    drop(reader);
    drop(release);
}

#[test]
fn a_reader_may_be_paused_from_its_own_thread() {
    let (mut window, program) = terminal();
    let slot: Arc<Mutex<Option<InputReader>>> = Arc::default();
    let (done, is_done) = channel();
    let own = Arc::clone(&slot);
    let reader = InputReader::on(program, move |_| {
        let mut reader = own.lock().unwrap();
        reader.as_ref().unwrap().pause();
        drop(reader.take());
        done.send(()).is_ok()
    })
    .unwrap();
    *slot.lock().unwrap() = Some(reader);
    window.write_all(b"a").unwrap();
    is_done.recv_timeout(TIME_MAX).unwrap();
}
