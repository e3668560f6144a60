// One message: the person's in a bubble on the right, the model's across the column.
import QtQuick
import Tandem.Markdown
import Tandem.Models
import Tandem.Theme

Item {
    id: row

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
    required property string writer

    implicitHeight: loader.height + (fromPerson ? 2 : 18)
    height: implicitHeight

    Loader {
        id: loader
        anchors.horizontalCenter: parent.horizontalCenter
        width: Math.min(Theme.column, row.width - 48)
        sourceComponent: row.fromPerson ? person : answer
    }
    Component {
        id: person
        PersonMessage {
            row: row
        }
    }
    Component {
        id: answer
        AnswerMessage {
            row: row
        }
    }
}
