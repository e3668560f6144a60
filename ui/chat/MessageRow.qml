// One message: the person's in a bubble on the right, the model's across the column.
import QtQuick
import Tandem.Theme

MessageCell {
    id: cell

    implicitHeight: loader.height + (fromPerson ? 2 : 18)
    height: implicitHeight
    // By name, so that the message gets its row before its bindings are made.
    Component.onCompleted: loader.setSource(fromPerson ? "PersonMessage.qml" : "AnswerMessage.qml", {
        "row": cell
    })

    Loader {
        id: loader
        anchors.horizontalCenter: parent.horizontalCenter
        width: Math.min(Theme.column, cell.width - 48)
    }
}
