// What the list knows of one message; MessageRow draws it.
import QtQuick
import Tandem.Markdown
import Tandem.Models

Item {
    signal linkActivated(url: string)

    required property Session session
    required property MessagePalette palette
    required property bool last
    required property int index
    required property real messageId
    required property bool fromPerson
    required property MarkdownMessage body
    required property bool streaming
    required property string problem
    required property string note
    required property int version
    required property int versionCount
    required property bool canContinue
    required property string statistics
    required property var legend
}
