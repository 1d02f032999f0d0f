public import Encodings

/// A call of the server as it is sent.
public struct ClientRequest: Sendable, Hashable {
    /// What is asked.
    public var method: Method
    /// Absolute.
    public var url: String
    /// Header fields by their names.
    public var headers: [Name: String]
    /// JSON; nil: there is none.
    public var body: [UInt8]?

    /// What a call does.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// Makes a request.
    public init(
        _ method: Method,
        _ url: String,
        headers: [Name: String] = [:],
        body: [UInt8]? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// What the server answers.
public struct ClientResponse: Sendable, Hashable {
    /// The status of HTTP.
    public var status: Int
    /// Header fields by their names in lower case.
    public var headers: [Name: String]
    /// At most ``byteLimit``.
    public var body: [UInt8]

    /// Bytes that an answer may have; a transport gives up what is larger.
    public static let byteLimit = 4 << 20

    /// Makes a response.
    public init(status: Int, headers: [Name: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Carries a call to the server and its answer back; nil: there is no whole one, because nobody was
/// reached, it took too long, or it is larger than ``ClientResponse/byteLimit``.
///
/// It throws nothing: that nobody is reached is expected of an app.
public typealias ClientTransport = @Sendable (ClientRequest) async -> ClientResponse?
