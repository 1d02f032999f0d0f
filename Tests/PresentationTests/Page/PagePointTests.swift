import Entitlements
import Testing

@testable import Presentation

/// The fields for instants of the console's forms.
struct `A field for an instant` {
    // A form that is sent as it stands asks what the page answers.
    @Test(arguments: ["2026-01-05T10:00:05.678Z", "2026-01-05T10:00:00.000Z"])
    func `has it to the millisecond`(_ text: String) throws {
        let instant = try #require(Instant(rfc3339: text))
        let field = PagePoint.field("at", instant)
        let value = try #require(field.first { $0.key == "value" }?.value)
        #expect(Instant(rfc3339: value + "Z") == instant)
        #expect(field.first { $0.key == "step" }?.value == "0.001")
    }
}
