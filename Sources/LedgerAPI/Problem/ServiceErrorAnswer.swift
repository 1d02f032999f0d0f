/// What an app shows to its people when something did not work (rows 2.5, 8.2).
package struct ServiceErrorAnswer: Described {
    /// What happened; a newer server may say what this program does not know.
    package var code: String
    /// The error in words, in the language that was asked for.
    package var message: String
    /// Whether the same request may succeed later.
    package var isRetryable: Bool
    /// Whose native code it is; nil: nobody's.
    package var platform: String?
    /// What the store or system called it; nil: it is not known.
    package var nativeCode: String?
    /// What more is known of it; nil: nothing.
    package var reason: String?

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ServiceError",
        "What an app shows to its people",
        Self.init
    ) {
        Field("code", \.code, .text)
        Field("message", \.message, .text)
        Field("retryable", \.isRetryable, .boolean)
        Field("platform", \.platform, .orAbsent(.text))
        Field("nativeCode", \.nativeCode, .orAbsent(.text))
        Field("reason", \.reason, .orAbsent(.text))
    }
}

extension ServiceErrorAnswer {
    /// Words an error.
    package init(_ error: ServiceError, in language: Language) {
        self.init(
            code: error.code.rawValue,
            message: error.message(in: language),
            isRetryable: error.isRetryable,
            platform: error.platform,
            nativeCode: error.nativeCode,
            reason: error.reason?.rawValue
        )
    }
}

extension ServiceError {
    /// The error that a server told of.
    ///
    /// A code of a newer server becomes `UNKNOWN_ERROR`; what it says of retrying stays. The
    /// message is not kept: the app has its own, in its customer's language.
    package init(_ answer: ServiceErrorAnswer) {
        self.init(
            Code(rawValue: answer.code) ?? .unknown,
            reason: answer.reason.flatMap(Reason.init(rawValue:)),
            isRetryable: answer.isRetryable,
            platform: answer.platform,
            nativeCode: answer.nativeCode
        )
    }
}
