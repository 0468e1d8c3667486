# An account that is to be erased.

account-delete = Mein Konto löschen
account-delete-act = Löschen
account-delete-ask = Das Konto { $name } löschen?
account-delete-text = Sitzungen, Anwendungen und Token enden sofort. { $days ->
    [one] Nach { $days } Tag wird das Konto endgültig gelöscht; bis dahin können Sie es behalten, durch einen Link in einer E-Mail an Sie.
   *[other] Nach { $days } Tagen wird das Konto endgültig gelöscht; bis dahin können Sie es behalten, durch einen Link in einer E-Mail an Sie.
}
account-delete-sure = Ich möchte, dass mein Konto gelöscht wird.
account-delete-confirm = Um Ihr Konto zu löschen, setzen Sie das Häkchen.

deletion-title = Ihr Konto wird gelöscht
deletion-when = Es wird gelöscht am:
deletion-mailed = Bis dahin können Sie es behalten: Eine E-Mail mit einem Link ist unterwegs zu Ihnen.
deletion-ask = Bis dahin kann der Betreiber dieses Servers es für Sie erhalten.
deletion-keep-title = Konto behalten?
deletion-keep = Konto behalten
deletion-kept = Das Konto bleibt. Melden Sie sich an.

error-keep-account = Dieser Link gilt nicht mehr: Das Konto wurde schon behalten, oder es ist gelöscht.

mail-deletion-subject = Ihr Konto bei { $brand } wird gelöscht
mail-deletion-text = Ihr Konto wird am { $time } gelöscht. Bis dahin kann sich niemand bei ihm anmelden.
mail-deletion-keep = Um es zu behalten, öffnen Sie diesen Link und bestätigen Sie:
mail-erased-subject = Ihr Konto bei { $brand } wurde gelöscht
mail-erased-text = Ihr Konto wurde gelöscht, mit allem, was von ihm gespeichert war.
