/* Moves of a small automaton that reads numbers with an optional sign, fraction and exponent. */
#include <stdio.h>
#include <string.h>

enum state { START, SIGN, DIGITS, POINT, FRACTION, EXPONENT, EXPONENT_SIGN, EXPONENT_DIGITS, ERROR, STATES };
enum kind { PLUS, MINUS, DIGIT, DOT, LETTER_E, OTHER, KINDS };

static const char *const names[STATES] = {
	"start", "sign", "digits", "point", "fraction", "exponent", "exponent sign", "exponent digits", "error",
};

static enum kind kind_of(int character)
{
	switch (character) {
	case '+': return PLUS;
	case '-': return MINUS;
	case '.': return DOT;
	case 'e': case 'E': return LETTER_E;
	default: return character >= '0' && character <= '9' ? DIGIT : OTHER;
	}
}

static const unsigned char accepting[STATES] = {
	[DIGITS] = 1, [FRACTION] = 1, [EXPONENT_DIGITS] = 1,
};

static enum state next_of(enum state state, enum kind kind)
{
	switch (state) {
	case START:
		if (kind == PLUS || kind == MINUS)
			return SIGN;
		/* fall through */
	case SIGN:
		return kind == DIGIT ? DIGITS : ERROR;
	case DIGITS:
		if (kind == DOT)
			return POINT;
		if (kind == LETTER_E)
			return EXPONENT;
		return kind == DIGIT ? DIGITS : ERROR;
	case POINT:
	case FRACTION:
		if (kind == LETTER_E && state == FRACTION)
			return EXPONENT;
		return kind == DIGIT ? FRACTION : ERROR;
	case EXPONENT:
		if (kind == PLUS || kind == MINUS)
			return EXPONENT_SIGN;
		/* fall through */
	case EXPONENT_SIGN:
	case EXPONENT_DIGITS:
		return kind == DIGIT ? EXPONENT_DIGITS : ERROR;
	default:
		return ERROR;
	}
}

static int is_number(const char *text, enum state *last)
{
	enum state state = START;
	size_t length = strlen(text);
	for (size_t place = 0; place < length; place++)
		state = next_of(state, kind_of(text[place]));
	*last = state;
	return accepting[state];
}

int main(int count, char **arguments)
{
	int wrong = 0;
	for (int number = 1; number < count; number++) {
		enum state last;
		int good = is_number(arguments[number], &last);
		printf("%-12s %s (%s)\n", arguments[number], good ? "yes" : "no", names[last]);
		wrong += !good;
	}
	return wrong > 0;
}
