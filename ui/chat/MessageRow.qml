// One message: the person's in a bubble on the right, the model's across the column.
import QtQuick
import Tandem.Theme

MessageCell {
    id: cell

    implicitHeight: loader.height + (fromPerson ? 2 : 18)
    height: implicitHeight

    Loader {
        id: loader
        anchors.horizontalCenter: parent.horizontalCenter
        width: Math.min(Theme.column, cell.width - 48)
        sourceComponent: cell.fromPerson ? person : answer
    }
    Component {
        id: person
        PersonMessage {
            row: cell
        }
    }
    Component {
        id: answer
        AnswerMessage {
            row: cell
        }
    }
}
