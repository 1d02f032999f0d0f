import LedgerAPI
import Presentation
import Testing

/// A form of a customer's page, which stands there again where it was refused (row 8.6).
struct `A form that is filled in again` {
    private static func text(chosen: String) -> String {
        var purchase = FormField(.purchase, choices: ["a/1", "a/2"])
        purchase.value = chosen
        var page = XMLText()
        CustomerFormPage(
            language: .english,
            form: .release,
            action: "/form",
            back: "/",
            token: nil,
            fields: [purchase],
            requestID: "r-1"
        )
        .write(to: &page)
        return page.text
    }

    @Test func `has what was chosen`() {
        let text = Self.text(chosen: "a/2")
        #expect(text.contains(#"value="a/2" selected="#))
        #expect(text.contains(#"value="a/1">"#))
        // The control: where nothing was, what stands first is offered.
        #expect(!Self.text(chosen: "").contains("selected"))
    }
}
