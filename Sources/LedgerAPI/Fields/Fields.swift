package import Encodings
import Entitlements

/// A value with a JSON text: every answer is one.
public protocol JSONWritable: Hashable, Sendable {
    /// Its JSON, made anew each time it is asked for.
    var jsonText: AnswerText { get }
}

/// A value whose JSON one list of fields describes: what is written, what is read, the component of
/// the interface description and the schema in a file are all made from it.
package protocol Described: JSONWritable {
    /// The list, in the order in which members are written.
    static var fields: Fields<Self> { get }
}

extension Described {
    /// The names of its members, as a table of such values has them.
    package static var columns: [String] { fields.members.map(\.name) }

    /// Its members' values: a row of that table.
    package var cells: [JSONValue] { Self.fields.members(of: self).map(\.value) }

    /// Its JSON, by the rules that are in force.
    public var jsonText: AnswerText { AnswerText(self) }

    /// Two answers are equal where their texts are: names that differ in their bytes alone are two.
    public static func == (left: Self, right: Self) -> Bool {
        AnswerText(left) == AnswerText(right)
    }
}

/// The fields of one kind of answer, in their order.
///
/// They are those of its memberwise initializer, so that a field that is missing in the list, or
/// stands at another place with another type, does not compile.
///
///     struct Trial: Described {
///         var id: String
///         var remainingDays: Int64
///
///         static let fields = Fields("Trial", Self.init) {
///             Field("trialId", \.id, .name)
///             Field("remainingDays", \.remainingDays, .count)
///         }
///     }
package struct Fields<Answer: Sendable>: Sendable {
    /// The name of its component.
    package let name: String
    /// What it is, in a few words.
    package let title: String
    /// The members as a schema describes them.
    let members: [Shape.Member]
    private let writers: [Writer]
    private let reader: @Sendable (JSONValue) throws -> Answer

    private struct Writer: Sendable {
        var name: String
        var write: @Sendable (Answer, inout AnswerText) -> Void
    }

    /// Lists the fields of an answer.
    ///
    /// `make`: the memberwise initializer.
    init<each Value: Sendable>(
        _ name: String,
        _ title: String = "",
        _ make: @escaping @Sendable (repeat each Value) -> Answer,
        @FieldList<Answer> _ list: () -> (repeat Field<Answer, each Value>)
    ) {
        let fields = list()
        var members: [Shape.Member] = []
        var writers: [Writer] = []
        for field in repeat each fields {
            members += field.members
            writers.append(Writer(name: field.name, write: field.write))
        }
        self.name = name
        self.title = title
        self.members = members
        self.writers = writers
        reader = { object in make(repeat try (each fields).read(object)) }
    }

    /// Writes an answer as an object.
    func write(_ answer: Answer, to text: inout AnswerText, without name: String? = nil) {
        text.object { writeMembers(of: answer, to: &$0, without: name) }
    }

    /// Writes the members of an answer into an object that was begun.
    func writeMembers(of answer: Answer, to text: inout AnswerText, without name: String? = nil) {
        for writer in writers where writer.name != name { writer.write(answer, &text) }
    }

    /// Writes one more member behind the others of an object.
    func add(_ name: String, of answer: Answer, to text: inout AnswerText) {
        text.reopen { text in
            for writer in writers where writer.name == name { writer.write(answer, &text) }
        }
    }

    /// The names of the members in which two answers differ, in their order; an inline part is one.
    func changed(from before: Answer, to after: Answer) -> [String] {
        writers.filter { writer in
            var texts = (AnswerText(), AnswerText())
            writer.write(before, &texts.0)
            writer.write(after, &texts.1)
            return texts.0.bytes != texts.1.bytes
        }
        .map(\.name)
    }

    /// The members of an answer, as its text has them.
    package func members(of answer: Answer) -> [JSONMember] {
        var text = AnswerText()
        write(answer, to: &text)
        // What was written is JSON.
        return (try? JSONValue(parsing: text.bytes))?.members ?? []
    }

    /// Reads an answer; members that the list does not have are passed over.
    ///
    /// - Throws: `InputFault`.
    package func read(_ object: JSONValue) throws -> Answer { try reader(object) }
}

/// One field of an answer: its name in JSON, where it stands in the struct, and its form.
struct Field<Answer: Sendable, Value: Sendable>: Sendable {
    let name: String
    /// The members that it is: one, or those of a part that stands among them.
    private(set) var members: [Shape.Member]
    private(set) var write: @Sendable (Answer, inout AnswerText) -> Void
    private(set) var read: @Sendable (JSONValue) throws -> Value

    /// A member.
    init(
        _ name: String,
        _ value: @escaping @Sendable (Answer) -> Value,
        _ form: Form<Value>,
        _ about: String? = nil
    ) {
        self.name = name
        members = [Shape.Member(name, form.shape, isOptional: form.isAbsent != nil, about: about)]
        let head = AnswerText.head(name)
        write = { answer, text in
            let value = value(answer)
            if form.isAbsent?(value) == true { return }
            text.member(head) { form.write(value, &$0) }
        }
        read = { object in
            do {
                return try form.read(object[name])
            } catch let fault as InputFault {
                throw InputFault(.malformed, "/" + name + fault.path, fault.detail)
            }
        }
    }

    /// Since which rules the field is there: answers by older ones are written without it.
    ///
    /// `value`: what it is in an answer without it.
    func since(_ version: UInt16, before value: Value) -> Self {
        var field = self
        field.write = { [write] answer, text in
            if text.version >= version { write(answer, &text) }
        }
        field.read = { [read, name] object in
            object[name] == nil ? value : try read(object)
        }
        return field
    }

    /// Says that it changes with the clock alone: an entity tag leaves it out.
    var echoed: Self {
        var field = self
        field.write = { [write] answer, text in text.echo { write(answer, &$0) } }
        return field
    }
}

extension Field where Value: Described {
    /// A part whose members stand among those of the whole.
    init(inline part: @escaping @Sendable (Answer) -> Value) {
        name = Value.fields.name
        members = Value.fields.members
        write = { answer, text in Value.fields.writeMembers(of: part(answer), to: &text) }
        read = { try Value.fields.read($0) }
    }
}

extension Field {
    /// A part whose members stand among those of the whole, all of them or, where there is no such
    /// part, none.
    init<Part: Described>(inlineOrAbsent part: @escaping @Sendable (Answer) -> Part?)
    where Value == Part? {
        let fields = Part.fields
        name = fields.name
        members = fields.members.map {
            Shape.Member($0.name, $0.shape, isOptional: true, about: $0.about)
        }
        write = { answer, text in
            if let part = part(answer) { fields.writeMembers(of: part, to: &text) }
        }
        read = { object in
            let isAbsent = fields.members.allSatisfy { object[$0.name] == nil }
            return isAbsent ? nil : try fields.read(object)
        }
    }
}

/// Lists fields one under the other.
@resultBuilder
enum FieldList<Answer: Sendable> {
    static func buildExpression<Value>(_ field: Field<Answer, Value>) -> Field<Answer, Value> {
        field
    }

    static func buildBlock<each Value>(
        _ fields: repeat Field<Answer, each Value>
    ) -> (repeat Field<Answer, each Value>) {
        (repeat each fields)
    }
}
