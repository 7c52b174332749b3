"""Which recorded environment variables a program may be given, if the log may come from a stranger.

Rules of this module:

* A variable that can make a program load code, start another program, read its configuration elsewhere, or talk to
  another server is *dangerous*: in a log that was not made here, it counts for nothing, and the program gets the value
  that the variable has here.
* There is no complete list of such variables. What is known stands in tables; what a name suggests decides about the
  rest, and it may suggest too much: a variable that is left out costs an exact replay at worst.
* Python's own variables are dangerous unless they are known to be switches or numbers. Those of the locale and the time
  zone name files, so theirs must be plain names.
* Other variables are taken from the log. They are shown before the program is run.

Sources: ld.so(8), glibc's manual on locales, NLS and tunables, "Environment variables" of the documentations of Python,
pytest, bash, dash, Perl, Ruby, Node.js, Java, Lua, Tcl, git, OpenSSL, curl, less, GLib, GTK, GStreamer, Qt and Mesa.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Switches and numbers, as `python --help-env` lists them.
_HARMLESS = frozenset(
    f"PYTHON{name}"
    for name in (
        *("ASYNCIODEBUG", "COERCECLOCALE", "DEBUG", "DEVMODE", "DONTWRITEBYTECODE", "FAULTHANDLER", "HASHSEED"),
        *("INTMAXSTRDIGITS", "IOENCODING", "LEGACYWINDOWSSTDIO", "MALLOC", "MALLOCSTATS", "NODEBUGRANGES"),
        *("NOUSERSITE", "OPTIMIZE", "PROFILEIMPORTTIME", "SAFEPATH", "THREADDEBUG", "TRACEMALLOC", "UNBUFFERED"),
        *("UTF8", "VERBOSE", "WARNDEFAULTENCODING", "_CPU_COUNT", "_FROZEN_MODULES", "_GIL"),
    )
) | {"COLORTERM", "TERM", "VIRTUAL_ENV"}

_DANGEROUS_PREFIXES = (
    *("LD_", "DYLD_", "GLIBC_", "MALLOC_", "GCONV_"),  # the loader and the C library
    *("REPLAY_DD_", "_REPLAY_DD_"),  # our own: the runtime obeys the request that one of them names
    *("PYTHON", "PYTEST_", "PIP_", "UV_", "COVERAGE_", "COV_CORE_", "PYDEVD_", "DEBUGPY_", "NUMBA_", "OPENBLAS_"),
    *("BASH_", "ZDOTDIR", "DYNATRACE_"),
    *("PERL", "RUBY", "GEM_", "BUNDLE_", "NODE_", "NPM_", "LUA_", "TCL", "TK_", "GUILE_", "ERL_", "R_"),
    *("JAVA_", "_JAVA_", "JDK_", "JRE_", "MAVEN_", "GRADLE_", "DOTNET_", "CORECLR_", "MONO_"),
    *("GIT_", "SSH_", "GPG_", "SUDO_", "DOCKER_", "KUBE", "AWS_", "AZURE_", "GOOGLE_", "PG", "MYSQL_", "ODBC"),
    *("GIO_", "GTK", "GDK_", "GI_", "GST_", "G_", "QT_", "QML", "KDE", "SDL_", "ALSA_", "PULSE_", "FONTCONFIG_"),
    *("LIBGL_", "MESA_", "GALLIUM_", "EGL_", "__EGL_", "__GLX_", "VK_", "OCL_", "CUDA_", "ROCM_", "OMPI_", "MCA_"),
    *("OPENSSL_", "SSL_", "CURL_", "NSS_", "KRB5", "SASL_", "LDAP", "DBUS_", "XDG_", "IBUS_", "MAGICK_"),
    *("PLAYWRIGHT_", "CHROME_", "CHROMIUM_", "LESS", "MPL", "XKB", "XAUTH", "DISPLAY", "WAYLAND_", "FAKETIME"),
)
_DANGEROUS = frozenset(
    (
        *("PATH", "HOME", "ENV", "SHELL", "SHELLOPTS", "BASHOPTS", "IFS", "CDPATH", "PS1", "PS2", "PS3", "PS4"),
        *("PWD", "OLDPWD", "FPATH", "TMPDIR", "TMP", "TEMP", "TMPPREFIX", "HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS"),
        *("CLASSPATH", "BROWSER", "EDITOR", "VISUAL", "PAGER", "TERMINAL", "NLSPATH", "LOCPATH", "TZDIR", "I_MPI_ROOT"),
        *("TERMINFO", "TERMCAP", "XENVIRONMENT", "XAPPLRESDIR", "XFILESEARCHPATH", "XLOCALEDIR", "XMODIFIERS"),
        *("MAKE", "MAKEFLAGS", "MAKEFILES", "CC", "CXX", "LD", "AR", "AS", "CPP", "COMSPEC", "SESSION_MANAGER"),
        *("LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET", "GETCONF_DIR", "TNS_ADMIN", "SOURCE_DATE_EPOCH"),
    )
)  # fmt: skip
# What a name of several words suggests: MY_PLUGIN_DIR, http_proxy, REQUESTS_CA_BUNDLE, DJANGO_SETTINGS_MODULE.
_DANGEROUS_WORDS = frozenset(
    (
        *("ARGS", "ASKPASS", "AGENT", "AUTHORITY", "BIN", "BUNDLE", "CERT", "CERTS", "CFG", "CMD", "COMMAND", "CONF"),
        *("CONFIG", "DEBUGGER", "DIR", "DIRS", "DIRECTORY", "DRIVER", "DRIVERS", "EDITOR", "EXE", "EXEC", "EXECUTABLE"),
        *("FILE", "FLAGS", "FOLDER", "HELPER", "HOME", "HOOK", "HOOKS", "INIT", "INTERPRETER", "LAUNCHER", "LIB"),
        *("LIBDIR", "LIBRARY", "LIBS", "LOADER", "MODULE", "MODULES", "OPTIONS", "OPTS", "PAGER", "PLUGIN", "PLUGINS"),
        *("PRELOAD", "PREFIX", "PROFILE", "PROGRAM", "PROXY", "RC", "ROOT", "RUNNER", "SCRIPT", "SETTINGS", "SHELL"),
        *("SOCK", "SOCKET", "STARTUP", "VIEWER", "WRAPPER"),
    )
)
_DANGEROUS_ENDS = ("PATH", "PATHS", "PAGER", "PRELOAD", "PLUGINS", "OPTIONS", "RC")
_WORDS = re.compile(r"[^A-Z0-9]+")
_NAMES_FILES = re.compile(r"LC_[A-Z]+|LANG|LANGUAGE|TZ|TERM|PYTHONIOENCODING")
_PLAIN_NAME = re.compile(r"(?!.*\.\.)[A-Za-z0-9_<][\w.@,:+<>-]*(/[A-Za-z0-9_][\w.@,:+<>-]*){0,2}|", re.ASCII)
_ORDINARY_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_dangerous(name: str, value: str) -> bool:
    """Whether a variable of a log may do harm to a program that is given it."""
    if not _ORDINARY_NAME.fullmatch(name):  # such as the functions that bash exports
        return True
    if _NAMES_FILES.fullmatch(name) and not _PLAIN_NAME.fullmatch(value):
        return True
    if name in _HARMLESS or _NAMES_FILES.fullmatch(name):
        return False
    upper = name.upper()
    return (
        upper in _DANGEROUS
        or upper.startswith(_DANGEROUS_PREFIXES)
        or upper.endswith(_DANGEROUS_ENDS)
        or not _DANGEROUS_WORDS.isdisjoint(_WORDS.split(upper.replace("_", " ")))
    )


def without_dangers(recorded: Mapping[str, str], here: Mapping[str, str]) -> dict[str, str]:
    """The environment of a log that was not made here: dangerous variables are as they are here, or absent.

    Args:
        recorded: the variables in the log, by name.
        here: the variables of this process.
    """
    safe = {name: value for name, value in recorded.items() if not is_dangerous(name, value)}
    ours = {name: value for name, value in here.items() if name not in safe and is_dangerous(name, value)}
    return dict(sorted({**safe, **ours}.items()))


def refused_variables(recorded: Mapping[str, str], here: Mapping[str, str]) -> dict[str, str]:
    """The dangerous variables of a log that have another value here, or none: those that it does not get to set."""
    return {
        name: value for name, value in sorted(recorded.items()) if is_dangerous(name, value) and here.get(name) != value
    }
