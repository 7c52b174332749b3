import click
from click.testing import CliRunner


@click.command()
@click.option("--quiet", is_flag=True, default=True, flag_value=False)
def command(quiet: bool) -> None:
    click.echo(str(quiet))


assert CliRunner().invoke(command, []).output == "True\n"
