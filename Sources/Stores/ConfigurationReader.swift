import Encodings
import Entitlements

/// Reads the members of one object of a configuration, each refused with its path.
struct ConfigurationReader {
    private let json: JSONValue
    private let path: String

    /// Takes an object whose members are all among `names`.
    init(_ json: JSONValue, path: String, _ names: Set<String>) throws(StoresConfigurationFault) {
        self.json = json
        self.path = path
        guard let members = json.members else {
            throw StoresConfigurationFault(path, "expected an object")
        }
        for member in members where !names.contains(member.name) {
            throw fault(member.name, "not a member that is known")
        }
    }

    /// A fault of one member.
    func fault(_ name: String, _ detail: String) -> StoresConfigurationFault {
        StoresConfigurationFault(path.isEmpty ? name : path + "." + name, detail)
    }

    /// A text that is not empty; nil if absent.
    func text(_ name: String) throws(StoresConfigurationFault) -> String? {
        guard let value = json.present(name) else { return nil }
        guard let text = value.string, !text.isEmpty else { throw fault(name, "expected text") }
        return text
    }

    /// Texts that are not empty; nil if absent.
    func texts(_ name: String) throws(StoresConfigurationFault) -> [String]? {
        guard let value = json.present(name) else { return nil }
        guard let items = value.array else { throw fault(name, "expected an array of texts") }
        var texts: [String] = []
        for (index, item) in items.enumerated() {
            guard let text = item.string, !text.isEmpty else {
                throw fault("\(name)[\(index)]", "expected text")
            }
            texts.append(text)
        }
        return texts
    }

    /// A positive whole number; nil if absent.
    func integer(_ name: String) throws(StoresConfigurationFault) -> Int64? {
        guard let value = json.present(name) else { return nil }
        guard let integer = value.integer, integer > 0 else {
            throw fault(name, "expected a positive whole number")
        }
        return integer
    }

    /// True or false; nil if absent.
    func flag(_ name: String) throws(StoresConfigurationFault) -> Bool? {
        guard let value = json.present(name) else { return nil }
        guard let flag = value.bool else { throw fault(name, "expected true or false") }
        return flag
    }
}
