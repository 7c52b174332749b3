"""No variable by which a stranger's log could have code run is taken from it; what programs depend on is."""

from __future__ import annotations

import re

import pytest

from replay_dd.trust.variables import is_dangerous, refused_variables, without_dangers

DANGEROUS = re.findall(
    r"\S+",
    """
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_DEBUG_OUTPUT GLIBC_TUNABLES GCONV_PATH LOCPATH NLSPATH TZDIR MALLOC_TRACE
    PATH HOME SHELL IFS PWD TMPDIR HOSTALIASES
    PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PYTHONUSERBASE PYTHONPLATLIBDIR
    PYTHONPYCACHEPREFIX PYTHONEXECUTABLE PYTHONCASEOK PYTHONPERFSUPPORT PYTHONDUMPREFSFILE PYTHON_PRESITE
    PYTEST_ADDOPTS PYTEST_PLUGINS PYTEST_DEBUG_TEMPROOT COVERAGE_PROCESS_START COV_CORE_SOURCE DJANGO_SETTINGS_MODULE
    FLASK_APP_MODULE CELERY_CONFIG_MODULE GUNICORN_CMD_ARGS NUMBA_CACHE_DIR MPLCONFIGDIR MPLBACKEND
    BASH_ENV ENV SHELLOPTS PS4 PROMPT_COMMAND BASH_FUNC_ls%% CDPATH ZDOTDIR INPUTRC
    PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYLIB RUBYOPT NODE_OPTIONS NODE_PATH LUA_INIT LUA_PATH TCLLIBPATH TCL_LIBRARY
    JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS
    GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS GIT_CONFIG_GLOBAL GIT_EXTERNAL_DIFF GIT_PAGER GIT_DIR SSH_ASKPASS SSH_AUTH_SOCK
    EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE MANPAGER MAKEFLAGS CC
    GTK_MODULES GTK_PATH GIO_EXTRA_MODULES GIO_MODULE_DIR GDK_PIXBUF_MODULE_FILE GI_TYPELIB_PATH GST_PLUGIN_PATH
    QT_PLUGIN_PATH QT_QPA_PLATFORM_PLUGIN_PATH QML2_IMPORT_PATH QTWEBENGINE_CHROMIUM_FLAGS LIBGL_DRIVERS_PATH
    VK_ICD_FILENAMES XDG_CONFIG_HOME XDG_DATA_DIRS XAUTHORITY DISPLAY XKB_BINDIR DBUS_SESSION_BUS_ADDRESS
    OPENSSL_CONF OPENSSL_MODULES SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE http_proxy HTTPS_PROXY ALL_PROXY
    MY_PLUGIN_DIR some_plugins MY_APP_HOOK EDITOR_WRAPPER REPLAY_DD_REQUEST REPLAY_DD_BEFORE_PYTHONPATH TERMINFO
""",
)
HARMLESS = re.findall(
    r"\S+",
    """
    PYTHONHASHSEED PYTHONUTF8 PYTHONUNBUFFERED PYTHONOPTIMIZE PYTHONDEVMODE PYTHONDONTWRITEBYTECODE PYTHONMALLOC
    PYTHON_GIL PYTHONNOUSERSITE VIRTUAL_ENV COLUMNS LINES NO_COLOR CI USER APP_MODE WORKERS DEBUG LOG_LEVEL
""",
)


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_dangerous_variable(name: str) -> None:
    assert is_dangerous(name, "1")


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_variable(name: str) -> None:
    assert not is_dangerous(name, "1")


@pytest.mark.parametrize(
    "name, value",
    [
        *(("LANG", "C.UTF-8"), ("LANG", "sr_RS.UTF-8@latin"), ("LC_ALL", ""), ("LANGUAGE", "de_AT:de"), ("TZ", "UTC")),
        *(("TZ", "America/Argentina/Ushuaia"), ("TZ", "CET-1CEST,M3.5.0,M10.5.0/3"), ("TZ", "<+03>-3")),
        *(("PYTHONIOENCODING", "utf-8:surrogateescape"), ("TERM", "xterm-256color")),
    ],
)
def test_the_locale_and_the_time_zone_are_taken(name: str, value: str) -> None:
    assert not is_dangerous(name, value)


@pytest.mark.parametrize(
    "value", ["/etc/shadow", ":/etc/shadow", "../evil", "a/../../evil", "a/..", "a\nb", "a\x1b[2J", "./a", "~/a", "a\0"]
)
@pytest.mark.parametrize("name", ["LANG", "LC_MESSAGES", "LANGUAGE", "TZ", "TERM", "PYTHONIOENCODING"])
def test_unless_they_name_a_file(name: str, value: str) -> None:
    assert is_dangerous(name, value)


def test_dangerous_variables_are_as_they_are_here() -> None:
    recorded = {"PATH": "/evil", "LD_PRELOAD": "evil.so", "LANG": "de_DE.UTF-8", "MODE": "test", "TZ": "/dev/zero"}
    here = {"PATH": "/usr/bin", "PYTHONPATH": "src", "LANG": "C", "EDITOR": "vi", "TZ": "UTC", "SECRET": "x"}
    assert without_dangers(recorded, here) == {
        "EDITOR": "vi",
        "LANG": "de_DE.UTF-8",
        "MODE": "test",
        "PATH": "/usr/bin",
        "PYTHONPATH": "src",
    }
    assert refused_variables(recorded, here) == {"LD_PRELOAD": "evil.so", "PATH": "/evil", "TZ": "/dev/zero"}
    assert refused_variables({"PATH": "/usr/bin"}, here) == {}
