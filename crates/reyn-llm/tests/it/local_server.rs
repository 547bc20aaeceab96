//! Finding a model server that runs on this machine.

use reyn_llm::{LocalServer, Providers, find_local_server};
use reyn_testkit::{FakeServer, Response};

fn local(name: &str, api_base: &str) -> String {
    format!("[[provider]]\nname = \"{name}\"\napi_base = \"{api_base}\"\nlocal = true\n")
}

#[tokio::test]
async fn the_first_server_that_offers_a_chat_model_is_found() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let embeds = FakeServer::script(Vec::<Response>::new());
    embeds.offer_models(&["nomic-embed-text"]);
    let chats = FakeServer::script(Vec::<Response>::new());
    chats.offer_models(&["nomic-embed-text", "qwen3:8b"]);
    let text = [
        local("silent", &format!("http://{}/v1", silent.local_addr().unwrap())),
        local("closed", &format!("http://{closed}/v1")),
        local("embeds", &embeds.api_base()),
        local("chats", &chats.api_base()),
        "[[provider]]\nname = \"far\"\napi_base = \"https://example.com/v1\"\n".to_owned(),
    ];
    let providers = Providers::parse(&text.concat()).unwrap();
    let expected =
        LocalServer { provider: "chats".into(), api_base: chats.api_base(), model: "qwen3:8b".into() };
    assert_eq!(find_local_server(&providers).await, Some(expected));
}

#[tokio::test]
async fn without_a_server_none_is_found() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let providers = Providers::parse(&local("closed", &format!("http://{closed}/v1"))).unwrap();
    assert_eq!(find_local_server(&providers).await, None);
}
