// Several lines of typed text in a frame that scrolls.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

Rectangle {
    id: control

    required property string name
    property string hint
    property alias text: area.text
    property alias edit: area

    signal edited

    implicitWidth: 200
    implicitHeight: 96
    radius: 8
    color: Theme.window
    border.width: area.activeFocus ? 2 : 1
    border.color: area.activeFocus ? Theme.focus : Theme.line

    Flickable {
        id: flick
        anchors.fill: parent
        anchors.margins: 2
        clip: true
        boundsBehavior: Flickable.StopAtBounds
        T.ScrollBar.vertical: ScrollHandle {}
        T.TextArea.flickable: T.TextArea {
            id: area
            leftPadding: 10
            rightPadding: 10
            topPadding: 8
            bottomPadding: 8
            wrapMode: TextEdit.Wrap
            textFormat: TextEdit.PlainText
            color: Theme.text
            selectionColor: Theme.accentFill
            selectedTextColor: Theme.accentText
            selectByMouse: true
            font.family: Theme.family
            font.pixelSize: Theme.medium
            Keys.onTabPressed: nextItemInFocusChain(true).forceActiveFocus(Qt.TabFocusReason)
            Keys.onBacktabPressed: nextItemInFocusChain(false).forceActiveFocus(Qt.BacktabFocusReason)
            Accessible.name: control.name
            Accessible.role: Accessible.EditableText
            Accessible.multiLine: true
            onEditingFinished: control.edited()

            TextLabel {
                x: area.leftPadding
                y: area.topPadding
                width: area.width - 2 * area.leftPadding
                visible: area.length === 0 && area.preeditText.length === 0
                text: control.hint
                color: Theme.faint
                wrapMode: Text.Wrap
                Accessible.ignored: true
            }
        }
    }
}
