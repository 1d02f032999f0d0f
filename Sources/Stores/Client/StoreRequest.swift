package import Encodings

/// A question to a store's API.
package struct StoreRequest: Hashable, Sendable {
    package var method: Method
    /// Absolute.
    package var url: String
    /// Header fields by their names.
    package var headers: [Name: String]
    package var body: [UInt8]

    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    /// Makes a request.
    package init(
        _ method: Method,
        _ url: String,
        headers: [Name: String] = [:],
        body: [UInt8] = []
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// What a store's API answers.
package struct StoreResponse: Hashable, Sendable {
    package var status: Int
    /// Header fields by their names in lower case.
    package var headers: [Name: String]
    package var body: [UInt8]

    /// Makes a response.
    package init(status: Int, headers: [Name: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Carries a request to a store and its response back; nil: there is no whole one, because the store
/// is away, slow, or answers more than ``StoreCaller/bodyByteLimit``.
package typealias StoreTransport = @Sendable (StoreRequest) async -> StoreResponse?
