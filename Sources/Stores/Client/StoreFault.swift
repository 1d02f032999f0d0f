/// Why a store's API gave no answer that can be used; holds nothing of what was asked.
package struct StoreFault: Error, Hashable, Sendable {
    package var code: Code
    /// The status of its response; nil: there was none.
    package var status: Int?
    /// Seconds after which it may be asked again; nil: not said.
    package var retryAfter: Int64?

    package enum Code: String, CaseIterable, Sendable {
        /// No whole answer, or one that the store is at fault for, as often as it was asked.
        case unavailable
        /// It was asked too often.
        case rateLimited = "rate_limited"
        /// It failed often of late, and is left alone for a while.
        case resting
        /// It knows nothing of what was asked, or no more.
        case notFound = "not_found"
        /// It does not let us ask: the key, or its rights.
        case notPermitted = "not_permitted"
        /// It does not understand what was asked.
        case rejected
        /// Its answer is not what it answers with.
        case malformed
    }

    /// Makes a fault.
    package init(_ code: Code, status: Int? = nil, retryAfter: Int64? = nil) {
        self.code = code
        self.status = status
        self.retryAfter = retryAfter
    }

    /// Whether the same question may be answered later.
    package var isTransient: Bool {
        switch code {
        case .unavailable, .rateLimited, .resting, .notPermitted: true
        case .notFound, .rejected, .malformed: false
        }
    }
}
