import Encodings
import EntitlementLedger
import Foundation
import LMDBStorage
import LedgerOperations
import Testing

struct `What is told of the master key` {
    /// A folder with a ledger that keeps its own key, and with a key in a file.
    private struct Place {
        var folder: String
        var ledger: String { folder + "/ledger" }
        var file: String { folder + "/master" }
        static let other = [UInt8](repeating: 0xAB, count: MasterKey.byteCount)
        static let digits = Hexadecimal.encode(other)

        static func with(_ body: (Place) throws -> Void) throws {
            try withTemporaryFolder { folder in
                let place = Place(folder: folder)
                try Ledger.create(at: place.ledger)
                try Data(digits.utf8).write(to: URL(filePath: place.file))
                try body(place)
            }
        }

        func options(_ variables: (Setting) -> String? = { _ in nil }) throws -> MasterKeyOptions {
            MasterKeyOptions(ofLedgerAt: ledger, try Settings(file: nil, variable: variables))
        }
    }

    /// A descriptor that gives these bytes and ends.
    private static func descriptor(_ text: String) throws -> (KeyDescriptor, Pipe) {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        return (KeyDescriptor(pipe.fileHandleForReading.fileDescriptor), pipe)
    }

    @Test func `is a file, a descriptor, a command or a variable`() throws {
        try Place.with { place in
            var options = try place.options()
            #expect(options.isOwn)
            #expect(try options.read() == MasterKey.read(place.ledger + "/key"))
            options.file = place.file
            #expect(try options.read() == Place.other && !options.isOwn)
            options = try place.options()
            options.command = "cat '\(place.file)'"
            #expect(try options.read() == Place.other)
            options = try place.options()
            let (descriptor, pipe) = try Self.descriptor(Place.digits + "\n")
            options.descriptor = descriptor
            // It can be read once; what is asked twice is kept.
            #expect(try options.read() == Place.other && options.read() == Place.other)
            try pipe.fileHandleForReading.close()
            for (setting, text) in [
                (Setting.keyFile, place.file), (.key, Place.digits),
                (.keyCommand, "cat '\(place.file)'"),
            ] {
                let options = try place.options { $0 == setting ? text : nil }
                #expect(try options.read() == Place.other && !options.isOwn, "\(setting)")
            }
        }
    }

    @Test func `counts in an order`() throws {
        try Place.with { place in
            let first = String(repeating: "01", count: MasterKey.byteCount)
            let one = [UInt8](repeating: 1, count: MasterKey.byteCount)
            var options = try place.options { setting in
                switch setting {
                case .key: first
                case .keyFile: place.file
                case .keyCommand: "exit 1"
                default: nil
                }
            }
            #expect(try options.read() == one)
            options.file = place.file
            #expect(try options.read() == Place.other, "a flag counts before a variable")
            options.passed = first
            #expect(try options.read() == one, "what was handed over counts before all")
            let named = try place.options { setting in
                setting == .keyFile ? place.file : setting == .keyCommand ? "exit 1" : nil
            }
            #expect(try named.read() == Place.other)
        }
    }

    // Interfaces, "The command": a variable counts before the configuration file.
    @Test func `is a variable's before it is the configuration file's`() throws {
        try Place.with { place in
            let absent = place.folder + "/absent"
            let bytes = Array(#"{"keyFile":"\#(absent)"}"#.utf8)
            let file = try SettingsFile(bytes, path: "entitle.json")
            let rows: [(Setting, String, place: String?)] = [
                (.keyCommand, "cat '\(place.file)'", nil), (.key, Place.digits, nil),
                (.keyFile, place.file, place.file),
            ]
            for (setting, text, stands) in rows {
                let settings = try Settings(file: file) { $0 == setting ? text : nil }
                let options = MasterKeyOptions(ofLedgerAt: place.ledger, settings)
                #expect(try options.read() == Place.other, "\(setting)")
                #expect(options.place == stands && !options.isOwn, "\(setting)")
            }
            // The control: by itself the file counts.
            let settings = try Settings(file: file) { _ in nil }
            let options = MasterKeyOptions(ofLedgerAt: place.ledger, settings)
            #expect(options.place == absent)
        }
    }

    @Test func `is not read without an end`() throws {
        try Place.with { place in
            let (file, mark) = (place.folder + "/long", place.folder + "/mark")
            let count = 10_000_000
            try Data(repeating: 0x61, count: count).write(to: URL(filePath: file))
            var options = try place.options()
            options.command = "cat '\(file)' && touch '\(mark)'"
            #expect(throws: OperationFault.self) { try options.read() }
            #expect(!FileManager.default.fileExists(atPath: mark), "it could write all of it")
            options = try place.options()
            let handle = try FileHandle(forReadingFrom: URL(filePath: file))
            options.descriptor = KeyDescriptor(handle.fileDescriptor)
            #expect(throws: OperationFault.self) { try options.read() }
            #expect(try handle.offset() < count)
            try handle.close()
        }
    }

    @Test func `is refused with a reason where none can be had`() throws {
        try Place.with { place in
            let short = place.folder + "/short"
            try Data("abc".utf8).write(to: URL(filePath: short))
            let (empty, pipe) = try Self.descriptor("")
            let rows: [(OperationFault.Code, (inout MasterKeyOptions) -> Void)] = [
                (.noKey, { $0.file = place.folder + "/absent" }), (.badKey, { $0.file = short }),
                (.noKey, { $0.descriptor = empty }), (.noKey, { $0.descriptor = .init(7777) }),
                (.noKey, { $0.command = "exit 1" }), (.badKey, { $0.command = "echo ab" }),
                (.noKey, { $0.command = "head -c 5000 /dev/zero" }),
                (
                    .usage,
                    { options in
                        options.file = place.file
                        options.command = "cat '\(place.file)'"
                    }
                ),
            ]
            for (number, (code, change)) in rows.enumerated() {
                var options = try place.options()
                change(&options)
                let fault = #expect(throws: OperationFault.self) { _ = try options.read() }
                #expect(fault?.code == code, "row \(number)")
                let told = [fault?.message, fault?.place, fault?.hint].compactMap(\.self)
                #expect(!told.contains { $0.contains(Place.digits) })
            }
            try pipe.fileHandleForReading.close()
            try FileManager.default.removeItem(atPath: place.ledger + "/key")
            let fault = #expect(throws: OperationFault.self) { _ = try place.options().read() }
            #expect(fault?.code == .noKey && fault?.place == place.ledger + "/key")
            try FileManager.default.removeItem(atPath: place.ledger)
            #expect(throws: LedgerOpenFault.self) { _ = try place.options().read() }
        }
    }

    @Test func `is believed only of a file that others cannot write`() throws {
        try Place.with { place in
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o666],
                ofItemAtPath: place.file
            )
            var options = try place.options()
            options.file = place.file
            let fault = #expect(throws: OperationFault.self) { _ = try options.read() }
            #expect(fault?.code == .configuration)
            #expect(fault?.hint?.hasPrefix("chmod go-w") == true)
        }
    }

    @Test func `for a ledger that is being made is its own where that stands there`() throws {
        try Place.with { place in
            let own = try MasterKey.read(place.ledger + "/key")
            let next = place.folder + "/next"
            let options = try place.options()
            #expect(try options.read(orAt: next) == own, "that of the ledger at hand")
            try FileManager.default.createDirectory(
                atPath: next,
                withIntermediateDirectories: true
            )
            try FileManager.default.copyItem(atPath: place.file, toPath: next + "/key")
            #expect(try options.read(orAt: next) == Place.other)
            #expect(try options.given() == nil)
            let named = try place.options { $0 == .keyFile ? place.file : nil }
            #expect(try named.given() == Place.other && named.read(orAt: next) == Place.other)
        }
    }

    @Test func `of a new ledger is what was given, in whatever way`() throws {
        try Place.with { place in
            let command = "cat '\(place.file)'"
            var told = try place.options { $0 == .keyCommand ? command : nil }
            #expect(try told.given() == Place.other)
            told = try place.options()
            // The control: nothing was given.
            #expect(try told.given() == nil)
            told.command = command
            #expect(try told.given() == Place.other)
            told.file = place.file
            #expect(throws: OperationFault.self) { try told.given() }
            told = try place.options()
            let (descriptor, pipe) = try Self.descriptor(Place.digits)
            told.descriptor = descriptor
            #expect(try told.given() == Place.other)
            try pipe.fileHandleForReading.close()
        }
    }
}
