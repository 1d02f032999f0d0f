import Encodings
import Entitlements

extension Form<String> {
    static func text(_ shape: Shape) -> Self {
        Form(shape, expected: "text", write: { $1.string($0) }, read: \.string)
    }

    static var text: Self { text(.text) }
    static var identifier: Self { text(.common(.identifier)) }
    /// An id of the catalog.
    static var name: Self { text(.common(.name)) }
    /// A purchase, grant or trial as answers name it.
    static var source: Self { text(.common(.sourceName)) }
    /// A value of a field of an event.
    static func value(of field: Entitlements.Field) -> Self { text(.field(field.shape)) }
    static func words(_ words: [String]) -> Self { text(.choice(words)) }
}

extension Form<String?> {
    /// Text that is always there but in a masked answer, where it is null.
    static func masked(_ form: Form<String>) -> Self {
        let value = orNull(form)
        return Form(form.shape, write: value.write, reading: value.read)
    }

    /// A masked answer has none: a token is a digest of the answer with its names.
    static var token: Self { masked(.text(.common(.token))) }
}

extension Form<Bool> {
    static var boolean: Self {
        Form(
            .boolean,
            expected: "true or false",
            write: { $1.literal($0 ? "true" : "false") },
            read: \.bool
        )
    }

    /// The member is left out where it is false.
    static var trueOrAbsent: Self {
        var form = Form(
            .onlyTrue,
            write: { _, text in text.literal("true") },
            reading: { json in
                guard let json else { return false }
                guard json.bool == true else { throw InputFault(.malformed, "", "true") }
                return true
            }
        )
        form.isAbsent = { !$0 }
        return form
    }
}

extension Form where Value: FixedWidthInteger {
    /// A place in the log, or a number of things: not negative.
    static var count: Self { integer(.common(.sequence)) }
    static var integer: Self { integer(.integer) }
    /// A value of a field of an event.
    static func value(of field: Entitlements.Field) -> Self { integer(.field(field.shape)) }

    static func integer(_ shape: Shape) -> Self {
        Form(
            shape,
            expected: "an integer",
            write: { $1.literal(String($0)) },
            read: { json in
                guard case .number(let digits) = json else { return nil }
                return Value(digits)
            }
        )
    }
}

extension Form<[UInt8]> {
    /// Bytes in base64, in its canonical spelling.
    static var base64: Self {
        Form(
            .pattern("^[A-Za-z0-9+/]*={0,2}$"),
            expected: "base64",
            write: { $1.string(Base64.encode($0.span)) },
            read: { $0.string.flatMap { Base64.decode($0) } }
        )
    }
}

extension Form<Instant> {
    /// RFC 3339 in UTC with three fraction digits.
    static var instant: Self {
        Form(
            .common(.instant),
            expected: "an instant",
            write: { $1.instant($0) },
            read: { $0.string.flatMap { Instant(rfc3339: $0) } }
        )
    }
}

extension Form<StoreEnvironment> {
    static var environment: Self {
        Form(
            .common(.environment),
            expected: "an environment",
            write: { $1.string($0.name) },
            read: { $0.string.flatMap { StoreEnvironment(name: $0) } }
        )
    }
}

extension Form<ProductKind> {
    static var productKind: Self {
        Form(
            .common(.productKind),
            expected: "a kind of product",
            write: { $1.string($0.name) },
            read: { $0.string.flatMap { ProductKind(name: $0) } }
        )
    }
}

extension Form where Value: CaseIterable & RawRepresentable<String> {
    /// One of the words of an enumeration.
    static var word: Self {
        Form(
            .choice(Value.allCases.map(\.rawValue)),
            expected: "one of its words",
            write: { $1.string($0.rawValue) },
            read: { $0.string.flatMap { Value(rawValue: $0) } }
        )
    }
}
