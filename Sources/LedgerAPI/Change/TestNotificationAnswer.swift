/// What became of a test notification: `test-notification`.
package struct TestNotificationAnswer: Described {
    /// The app that it is about.
    package var bundleID: String
    /// What each attempt came to, in the App Store's words, the first one first.
    package var attempts: [String]

    /// Names both.
    package init(bundleID: String, attempts: [String]) {
        self.bundleID = bundleID
        self.attempts = attempts
    }

    /// Whether the server at its address took it.
    package var isTaken: Bool { attempts.last == "SUCCESS" }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "TestNotification",
        "What became of a test notification",
        { bundleID, attempts, _ in Self(bundleID: bundleID, attempts: attempts) }
    ) {
        Field("bundleId", \.bundleID, .text)
        Field(
            "attempts",
            \.attempts,
            .list(.text),
            "What each attempt to send it came to, in the App Store's words"
        )
        Field("taken", { $0.isTaken }, .boolean, "Whether the server at its address took it")
    }
}
