# Allow or deny what an application asks for.

consent-title = Allow access?
consent-heading = { $client } asks for access
consent-answer-to = You will return to { $host }.
consent-able = It would be able to:
consent-danger = Far-reaching
consent-before = (allowed before)
consent-for = For { $resources }
consent-withdraw = You can remove this access at any time on your { $account }.
consent-account-page = account page
consent-claim = Know a single detail of your profile: { $claim }

consent-about-client = About the application
consent-policy = Privacy policy
consent-terms = Terms of service

# What the scopes that every server has allow. The id is `scope-`, and the scope's name.
scope-openid = See your account ID
scope-profile = See your profile: name, picture, locale
scope-email = See your e-mail address
scope-address = See your postal address
scope-phone = See your phone number
scope-groups = See which groups you are in
scope-offline_access = Keep access while you are away
