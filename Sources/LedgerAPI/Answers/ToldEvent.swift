package import Entitlements

/// An event with what it says in words: a row of the console's list, and its page.
package struct ToldEvent: Described {
    /// The event, as the feed gives it.
    package var event: ListedEvent
    /// What it is, in a few words.
    package var title: String
    /// What it says, in a sentence.
    package var sentence: String
    /// The digest of the evidence that is kept with it, in hexadecimal digits; nil: none is.
    package var evidence: String?

    private init(event: ListedEvent, title: String, sentence: String, evidence: String?) {
        self.event = event
        self.title = title
        self.sentence = sentence
        self.evidence = evidence
    }

    /// Tells an event.
    ///
    /// `values`: what is shown of its data.
    package init(
        _ event: ListedEvent,
        _ kind: EventKind,
        _ values: [Entitlements.Field: FieldValue],
        evidence: String?
    ) {
        self.init(
            event: event,
            title: EventSentence.title(of: kind)[.english],
            sentence: EventSentence.text(kind, values),
            evidence: evidence
        )
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ToldEvent", "An event in words", Self.init) {
        Field("event", \.event, .object)
        Field("title", \.title, .text, "What it is, in a few words")
        Field("sentence", \.sentence, .text)
        Field(
            "evidence",
            \.evidence,
            .orNull(.text),
            "The digest of the evidence that is kept with it, in hexadecimal digits"
        )
    }
}
