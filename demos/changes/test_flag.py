"""A flag with a value of its own that is on by default: click 8.2 passes the flag's value, and 8.3.0 does not."""

import click
from click.testing import CliRunner


@click.command()
@click.option("--upper", is_flag=True, flag_value="upper", default="lower")
def show(upper: str) -> None:
    click.echo(f"case: {upper}")


said = CliRunner().invoke(show, []).output
assert said == "case: upper\n", said
