// What the person wrote, with copy, edit and branch below it; edited in place.
import QtQuick
import Tandem.Controls
import Tandem.Markdown
import Tandem.Theme

FocusScope {
    id: view

    required property MessageCell row
    property bool editing: false
    readonly property bool actionsShown: hover.hovered || activeFocus || row.versionCount > 1

    function beginEdit() {
        box.text = row.session.messages.contentOf(row.messageId);
        editing = true;
        box.edit.forceActiveFocus();
        box.edit.cursorPosition = box.edit.length;
    }
    function endEdit(accept: bool) {
        editing = false;
        if (accept)
            row.session.chat.edit(row.messageId, box.text);
    }

    implicitHeight: (editing ? editor.height : bubble.height) + 16

    HoverHandler {
        id: hover
    }
    Rectangle {
        id: bubble
        readonly property real natural: view.row.body ? view.row.body.naturalWidth(Qt.font({
            "family": Theme.family,
            "pixelSize": Theme.body
        })) : 0
        visible: !view.editing
        anchors.right: parent.right
        width: Math.min(view.width - actions.width - 8, view.width * 0.69, Math.ceil(natural) + 34)
        height: text.implicitHeight + 18
        radius: 12
        color: Theme.raised
        border.color: Theme.line
        MessageBody {
            id: text
            x: 16
            y: 9
            width: parent.width - 32
            message: view.row.body
            colors: view.row.palette
            textSize: Theme.body
            onCopyRequested: text => view.row.session.copyText(text)
        }
    }
    Row {
        id: actions
        visible: !view.editing
        anchors.right: bubble.left
        anchors.rightMargin: 6
        anchors.bottom: bubble.bottom
        anchors.bottomMargin: 4
        spacing: 0
        opacity: view.actionsShown ? 1 : 0
        VersionSwitch {
            anchors.verticalCenter: parent.verticalCenter
            row: view.row
        }
        IconButton {
            objectName: "copyPerson"
            implicitWidth: 28
            implicitHeight: 28
            iconSize: 15
            name: qsTr("Copy")
            iconName: "copy"
            onClicked: view.row.session.chat.copy(view.row.messageId)
        }
        IconButton {
            objectName: "editButton"
            implicitWidth: 28
            implicitHeight: 28
            iconSize: 15
            name: qsTr("Edit")
            iconName: "rename"
            enabled: !view.row.session.chat.answering
            onClicked: view.beginEdit()
        }
        IconButton {
            implicitWidth: 28
            implicitHeight: 28
            iconSize: 15
            name: qsTr("Branch")
            iconName: "branch"
            onClicked: view.row.session.chat.branch(view.row.messageId)
        }
    }
    Column {
        id: editor
        visible: view.editing
        width: parent.width
        spacing: 8
        TextBox {
            id: box
            objectName: "editBox"
            width: parent.width
            implicitHeight: Math.max(72, Math.min(320, edit.contentHeight + 26))
            name: qsTr("Edit the message")
            edit.Keys.onPressed: event => {
                const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                if (event.key === Qt.Key_Escape) {
                    view.endEdit(false);
                    event.accepted = true;
                } else if (enter && !(event.modifiers & Qt.ShiftModifier) && !box.edit.inputMethodComposing) {
                    view.endEdit(true);
                    event.accepted = true;
                }
            }
        }
        Row {
            anchors.right: parent.right
            spacing: 8
            TextButton {
                label: qsTr("Cancel")
                outlined: true
                onClicked: view.endEdit(false)
            }
            TextButton {
                objectName: "saveEdit"
                label: qsTr("Send as a new version")
                strong: true
                onClicked: view.endEdit(true)
            }
        }
    }
}
