import Encodings
package import EntitlementLedger
import Entitlements

/// An export as one text, handed out piece by piece: for who takes it over a connection.
package struct ExportStream: Sendable {
    /// What it looks like.
    package enum Form: Sendable {
        /// Every file, a line of theirs each: `{"file":NAME,"line":LINE}`; the manifest comes last.
        case bundle
        /// The first file with an ending, by itself: without proofs.
        case file(ending: String)
    }

    private let export: LedgerExport
    private let isBundle: Bool
    private var files: ArraySlice<ExportFile>
    private var current: Current?
    private var written: [ExportedFile] = []
    private var isFinished = false

    /// A file on its way.
    private struct Current: Sendable {
        let file: ExportFile
        var text: ExportText
        var digest = FileDigest()
        var parts: ArraySlice<ExportPart>
        var position: LedgerExport.Position?

        init(_ file: ExportFile, _ export: LedgerExport) {
            self.file = file
            text = ExportText(file, of: export)
            parts = file.parts[...]
        }

        /// Bytes of the file as they go out.
        mutating func piece(_ text: String, isBundle: Bool) -> String {
            guard !text.isEmpty else { return "" }
            digest.add(Array(text.utf8))
            guard isBundle else { return text }
            // What is no JSON stands as a string.
            let line =
                file.form == .lines
                ? String(text.dropLast()) : JSONValue.string(text).description
            return ExportStream.wrapped(file.name, line)
        }
    }

    /// Begins a text.
    package init(_ export: LedgerExport, _ form: Form) {
        self.export = export
        switch form {
        case .bundle:
            isBundle = true
            files = export.plan.files[...]
        case .file(let ending):
            isBundle = false
            files = export.plan.files.filter { $0.name.hasSuffix(ending) }.prefix(1)
        }
    }

    /// The next piece, some hundred lines at most; nil at the end.
    package mutating func next() throws -> String? {
        while !isFinished {
            let piece = try step()
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    private mutating func step() throws -> String {
        guard var current else {
            guard let file = files.popFirst() else {
                isFinished = true
                return isBundle ? try manifest() : ""
            }
            var begun = Current(file, export)
            let piece = begun.piece(begun.text.head, isBundle: isBundle)
            self.current = begun
            return piece
        }
        guard var position = current.position ?? current.parts.first.map({ .init($0) }) else {
            let piece = current.piece(current.text.tail, isBundle: isBundle)
            written.append(current.digest.file(current.file.name))
            self.current = nil
            return piece
        }
        var piece = ""
        for line in try export.next(&position) {
            let text = current.text.text(position.part, line)
            piece += current.piece(text, isBundle: isBundle)
        }
        if position.isAtEnd { current.parts = current.parts.dropFirst() }
        current.position = position.isAtEnd ? nil : position
        self.current = current
        return piece
    }

    private func manifest() throws -> String {
        let manifest = try export.manifest(of: written)
        return "{\"file\":\"\(ExportFile.manifest)\",\"line\":\(manifest.text.dropLast())}\n"
            + Self.wrapped(ExportFile.signature, JSONValue.string(manifest.note).description)
    }

    private static func wrapped(_ name: String, _ line: String) -> String {
        "{\"file\":\"\(name)\",\"line\":\(line)}\n"
    }
}
