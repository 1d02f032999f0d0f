/// What a server is asked to replay: the body of `POST /v1/replay`.
package struct ReplayRequest: Described {
    /// Whom it is about; nil: everybody.
    package var customer: String?
    /// Decision tokens that are asked again; nil: none are.
    package var tokens: [GivenToken]?

    /// Tokens of one request, at most: whom each names is noted.
    package static let tokenLimit = 10_000

    /// Makes a request.
    package init(customer: String? = nil, tokens: [GivenToken]? = nil) {
        self.customer = customer
        self.tokens = tokens
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ReplayRequest", "What is replayed", Self.init) {
        Field("customer", \.customer, .orAbsent(.identifier), "Absent: everybody")
        Field("tokens", \.tokens, .orAbsent(.list(.object)), "Decision tokens that are asked again")
    }
}

/// A decision token as somebody hands it in.
package struct GivenToken: Described {
    /// Its text; nil: what was given is no token.
    package var token: String?
    /// Who is meant; nil: whom it names.
    package var customer: String?

    /// Makes one.
    package init(token: String?, customer: String?) {
        self.token = token
        self.customer = customer
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("GivenToken", "A token that is asked again", Self.init) {
        Field("token", \.token, .orAbsent(.text), "Absent: what was given is no token")
        Field("customer", \.customer, .orAbsent(.identifier), "Who is meant; absent: whom it names")
    }
}
