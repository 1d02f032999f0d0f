import Encodings
public import Entitlements

/// What an erasure of customers would take (C6, row 9.5): `erase --dry-run`.
///
/// In every environment their streams, those of their links, and of the purchases whose last owner
/// they are. A purchase that they once owned, and another owns now, keeps its key; evidence that
/// names them closes. A purchase that they own goes with all its names, whoever else claimed it
/// before.
public struct ErasurePlanAnswer: Described {
    /// The streams, in the order of customers and environments.
    public var streams: [Stream]
    /// The customers of whom nothing is known, in no environment.
    public var unknown: [String]

    /// A stream that goes.
    public struct Stream: Described {
        /// Its name, which goes.
        public var subject: Subject
        /// Where it stands.
        public var environment: StoreEnvironment
        /// Its number, which stays.
        public var number: UInt64
        /// Events that name it.
        public var events: Int

        /// Makes a stream.
        package init(
            subject: Subject,
            environment: StoreEnvironment,
            number: UInt64,
            events: Int
        ) {
            self.subject = subject
            self.environment = environment
            self.number = number
            self.events = events
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("ErasedStream", "A stream that would go", Self.init) {
            Field("subject", \.subject, .subject, "The name that would go")
            Field("environment", \.environment, .environment)
            Field("stream", \.number, .erasedStream, "What would stand in its place")
            Field("events", \.events, .count, "Events that name it")
        }
    }

    /// Makes a plan.
    package init(streams: [Stream], unknown: [String]) {
        self.streams = streams
        self.unknown = unknown
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ErasurePlan", "What an erasure would take", Self.init) {
        Field("streams", \.streams, .list(.object))
        Field("unknown", \.unknown, .list(.text), "Customers of whom nothing is known")
    }
}

extension Form<Subject> {
    /// A customer, purchase, store or the catalog by its name.
    static var subject: Self {
        Form(
            .text,
            expected: "a subject",
            write: { $1.string($0.description) },
            read: { $0.string.flatMap { Subject($0) } }
        )
    }
}
