// What a user of Gannet touches comes with `import Gannet` alone: under MemberImportVisibility the members of a
// type are visible only where its own module is imported.
@_exported public import Dispatch
@_exported public import FoundationEssentials
@_exported public import GannetHTTP
@_exported public import GannetSockets
