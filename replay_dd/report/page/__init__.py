"""Results as one HTML page that opens from disk: no network, no other files, nothing to install.

Rules of this package:

* A page is made of :class:`~replay_dd.report.page.markup.Markup` alone. Whatever else is put into it is escaped, as
  names, values, sources and messages may come from a stranger's log or from the program under test.
* Everything that must be read stands in the HTML: without scripts, and on paper, the page is whole. The script only
  steps through what is there; it makes text, never markup.
* A policy in the page (Content-Security-Policy) forbids every request, and every script and style but our own two.
* What is drawn is limited, and the page says what was left out.
"""
