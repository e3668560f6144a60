// Several lines of typed text in a frame of its own that scrolls.
import QtQuick
import QtQuick.Templates as T
import Tandem.Theme

T.ScrollView {
    id: control

    required property string name
    property string hint
    property alias text: area.text
    property alias edit: area

    signal edited

    implicitWidth: 200
    implicitHeight: 96
    contentWidth: availableWidth
    padding: 1
    Accessible.ignored: true

    T.ScrollBar.vertical: ScrollHandle {
        parent: control
        x: control.width - width
        height: control.height
    }

    T.TextArea {
        id: area
        width: control.availableWidth
        padding: 11
        wrapMode: TextEdit.Wrap
        textFormat: TextEdit.PlainText
        color: Theme.text
        selectionColor: Theme.accent
        selectedTextColor: Theme.accentText
        selectByMouse: true
        font.family: Theme.family
        font.pixelSize: Theme.medium
        KeyNavigation.priority: KeyNavigation.BeforeItem
        KeyNavigation.tab: nextItemInFocusChain(true)
        KeyNavigation.backtab: nextItemInFocusChain(false)
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
    background: Rectangle {
        radius: 8
        color: Theme.window
        border.width: area.activeFocus ? 2 : 1
        border.color: area.activeFocus ? Theme.focus : Theme.line
    }
}
