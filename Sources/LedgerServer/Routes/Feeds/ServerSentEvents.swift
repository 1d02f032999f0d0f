/// The text of Server-Sent Events (WHATWG HTML, "Server-sent events").
enum ServerSentEvents {
    /// What a stream begins with: milliseconds after which a reader whose connection is lost comes again.
    static let beginning = "retry: 2000\n\n"
    /// A comment: it keeps the connection where there is nothing to tell.
    static let comment = ":\n\n"
    /// What a stream ends with that the server ends.
    static let goodBye = "event: bye\ndata:\n\n"

    /// How long nothing is sent before a comment is: proxies wait for half a minute at least, mostly, before
    /// they end a connection on which nothing comes.
    static let silence = Duration.seconds(15)

    /// An event whose data is one line.
    static func event(id: String, _ data: String) -> String { "id: \(id)\ndata: \(data)\n\n" }
}
