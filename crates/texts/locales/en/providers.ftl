### Logging in at an identity provider of somebody else. "The other service" is that provider.

# A button. $provider: what the provider is called.
provider-continue = Continue with { $provider }
provider-first-title = First time here
# $provider: what the provider is called.
provider-first = You logged in with { $provider }. No account here knows you yet.
# $provider: what the provider is called. $name: what the person is called there.
provider-first-named = You logged in with { $provider } as { $name }. No account here knows you yet.
provider-first-create = Continue with a new account
provider-first-link = I have an account here: log in and link it
provider-prove = Log in to your account here once, in another way. Then the other service is linked to it.
provider-not-offered = This way to log in is not offered.
provider-too-many = Too many logins go that way at the moment. Try again in a few minutes.
provider-unreachable = The other service cannot be reached at the moment. Try again, or log in another way.
provider-denied = The other service did not log you in.
provider-unverified = What the other service says about you could not be verified.
provider-setup = The other service is not set up rightly here. Whoever runs this server has to look at it.
provider-mixed-up = The answer does not come from the service that was asked.
provider-too-old = The other service did not ask you to log in again, which is needed here.
provider-nobody = There is no account for you here. Ask whoever runs this server.
provider-elsewhere = This login was begun in another browser, or too long ago, or was answered already. Go back to the application and start again.
provider-taken = Your account at the other service is linked to another account here.
provider-last-way = This is the only way to log in to your account. Set up another one first.
provider-unlinked = You no longer log in that way.
provider-account-title = Other ways to log in
provider-account-not-linked = Not linked
# A button. $provider: what the provider is called.
provider-account-link = Link { $provider }
provider-account-unlink = Unlink
